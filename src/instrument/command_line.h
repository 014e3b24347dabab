// What a compiler's command line asks for, as far as Tomos must know it: which steps it runs, and
// what in it does not go together with ours.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tomos::instrument {

struct Request {
  bool compiles = false;  // some input is C, C++ or another language that clang and gcc optimise
  bool links = false;     // the last step is a program or a shared library
  bool static_link = false;
  bool standard_libraries = true;
  bool refuses_thread = false;  // -fno-sanitize=thread has the last word: not to be instrumented
  bool asks_thread = false;     // -fsanitize=thread has
  bool transactions = false;    // -fgnu-tm
  std::string static_option;    // -static or -static-pie, as given
  std::string machine_option;   // an option that asks for another machine than this one, as given
  std::set<std::string, std::less<>> sanitizers;
};

// Looks into response files too. What cannot be read is left for the compiler to complain about.
Request understand(const std::vector<std::string>& arguments);

// The words of a response file: blanks separate, quotes and backslashes protect.
std::vector<std::string> split_response(std::string_view text);

}  // namespace tomos::instrument
