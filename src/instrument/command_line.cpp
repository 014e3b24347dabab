#include "command_line.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <sstream>
#include <utility>

namespace tomos::instrument {
namespace {

// Options whose value is the next word, so that the value is not taken for an input. Both
// compilers'.
constexpr std::array kWithValue = std::to_array<std::string_view>({
    "-o",
    "-x",
    "-I",
    "-L",
    "-D",
    "-U",
    "-F",
    "-B",
    "-A",
    "-T",
    "-u",
    "-z",
    "-e",
    "-l",
    "-G",
    "-h",
    "-include",
    "-imacros",
    "-include-pch",
    "-isystem",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-isysroot",
    "-iquote",
    "-imultilib",
    "-iframework",
    "-ivfsoverlay",
    "-cxx-isystem",
    "-c-isystem",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xclang",
    "-Xopenmp-target",
    "-Xanalyzer",
    "-mllvm",
    "-aux-info",
    "--param",
    "-wrapper",
    "-dumpbase",
    "-dumpbase-ext",
    "-dumpdir",
    "-target",
    "--target",
    "-arch",
    "-gcc-toolchain",
    "--sysroot",
    "-working-directory",
    "-resource-dir",
    "-rpath",
    "--config",
    "--output",
    "--language",
    "-serialize-diagnostics",
    "--serialize-diagnostics",
});

// Options after which nothing is linked.
constexpr std::array kStops = std::to_array<std::string_view>({
    "-c",
    "-S",
    "-E",
    "-M",
    "-MM",
    "-fsyntax-only",
    "--precompile",
    "--analyze",
    "-emit-ast",
    "--compile",
    "--assemble",
    "--preprocess",
    "-r",
    "-verify-pch",
    "-extract-api",
});

// Options that only ask about the compiler, whatever else there is.
constexpr std::array kQueries = std::to_array<std::string_view>({
    "--version",
    "-dumpversion",
    "-dumpfullversion",
    "-dumpmachine",
    "-dumpspecs",
    "-cc1",
    "-cc1as",
});
constexpr std::array kQueryPrefixes =
    std::to_array<std::string_view>({"-print-", "--print-", "--help", "-help"});

constexpr std::array kHeaders =
    std::to_array<std::string_view>({"h", "H", "hh", "hp", "hxx", "hpp", "HPP", "h++", "tcc"});
constexpr std::array kSources = std::to_array<std::string_view>({
    "c",  "i", "ii",  "cc",   "cp",  "cxx",  "cpp",  "CPP", "c++", "C",  "m",   "mi",
    "mm", "M", "mii", "cppm", "ccm", "cxxm", "c++m", "ixx", "ll",  "bc", "pcm",
});

template <std::size_t N>
bool holds(const std::array<std::string_view, N>& all, std::string_view one) {
  return std::ranges::find(all, one) != all.end();
}

enum class Kind { kSource, kHeader, kAssembler, kObject };

Kind kind_of(std::string_view input, std::string_view language) {
  if (!language.empty() && language != "none") {
    if (language.starts_with("assembler")) return Kind::kAssembler;
    return language.ends_with("-header") ? Kind::kHeader : Kind::kSource;
  }
  if (input == "-") return Kind::kSource;  // cc -E - takes it for C
  const std::size_t dot = input.rfind('.');
  const std::size_t slash = input.rfind('/');
  if (dot == std::string_view::npos || (slash != std::string_view::npos && dot < slash)) {
    return Kind::kObject;
  }
  const std::string_view extension = input.substr(dot + 1);
  if (holds(kHeaders, extension)) return Kind::kHeader;
  if (holds(kSources, extension)) return Kind::kSource;
  if (extension == "s" || extension == "S" || extension == "sx") return Kind::kAssembler;
  return Kind::kObject;
}

std::optional<std::string> read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  if (!file && !file.eof()) return std::nullopt;
  return std::move(text).str();
}

// All words, those of response files in their place. A response file may name others; one that
// names itself ends somewhere.
void expand(std::span<const std::string> arguments, int depth, std::vector<std::string>& words) {
  constexpr int kDepth = 16;
  for (const std::string& word : arguments) {
    if (word.size() > 1 && word.front() == '@' && depth < kDepth) {
      if (const auto text = read(word.substr(1))) {
        expand(split_response(*text), depth + 1, words);
        continue;
      }
    }
    words.push_back(word);
  }
}

// Runs through the words once; at the end the request is known.
class Reader {
 public:
  Request read(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string_view word = words[i];
      if (word.empty()) continue;
      if (word == "-" || word.front() != '-' || only_inputs_) {
        input(word);
      } else if (word == "--") {
        only_inputs_ = true;
      } else if (holds(kWithValue, word)) {
        const std::string value = i + 1 < words.size() ? words[i + 1] : "";
        option_with_value(word, value);
        ++i;
      } else {
        option(word);
      }
    }
    if (query_) return {};
    request_.compiles = source_ || header_;
    // A header alone is precompiled, not linked.
    request_.links = !stops_ && (source_ || assembler_ || object_ || (linker_option_ && !header_));
    return request_;
  }

 private:
  void input(std::string_view word) {
    switch (kind_of(word, language_)) {
      case Kind::kSource:
        source_ = true;
        break;
      case Kind::kHeader:
        header_ = true;
        break;
      case Kind::kAssembler:
        assembler_ = true;
        break;
      case Kind::kObject:
        object_ = true;
        break;
    }
  }

  void option_with_value(std::string_view word, const std::string& value) {
    if (word == "-x" || word == "--language") language_ = value;
    if (word == "-Xlinker" || word == "-l") linker_option_ = true;
    if (word == "-Xlinker" && (value == "-r" || value == "--relocatable")) stops_ = true;
    if (word == "-target" || word == "--target") {
      target(value, std::string(word) + " " + value);
    }
  }

  void option(std::string_view word) {
    if (holds(kQueries, word)) query_ = true;
    for (const std::string_view prefix : kQueryPrefixes) query_ |= word.starts_with(prefix);
    if (holds(kStops, word)) stops_ = true;
    if (word.starts_with("-x")) language_ = word.substr(2);
    if (word.starts_with("-l")) linker_option_ = true;
    if (word.starts_with("-Wl,")) {
      linker_option_ = true;
      if (word == "-Wl,-r" || word == "-Wl,--relocatable") stops_ = true;
    }
    if (word == "-static" || word == "--static" || word == "-static-pie") {
      request_.static_link = true;
      request_.static_option = word;
    }
    if (word == "-nostdlib" || word == "-nodefaultlibs" || word == "-nolibc") {
      request_.standard_libraries = false;
    }
    if (word == "-m32" || word == "-mx32" || word == "-m16") request_.machine_option = word;
    if (word == "-m64") request_.machine_option.clear();
    if (word.starts_with("--target=")) target(word.substr(9), std::string(word));
    if (word == "-fgnu-tm" || word == "-fno-gnu-tm") request_.transactions = word == "-fgnu-tm";
    if (word.starts_with("-fsanitize=")) sanitize(word.substr(11), true);
    if (word.starts_with("-fno-sanitize=")) sanitize(word.substr(14), false);
  }

  void target(std::string_view triple, std::string option) {
    const bool same = triple.starts_with("x86_64") || triple.starts_with("amd64");
    request_.machine_option = same ? "" : std::move(option);
  }

  void sanitize(std::string_view list, bool on) {
    std::istringstream names{std::string(list)};
    for (std::string name; std::getline(names, name, ',');) {
      if (name == "thread" || (name == "all" && !on)) {
        request_.asks_thread = on;
        request_.refuses_thread = !on;
      }
      if (on) {
        request_.sanitizers.insert(name);
      } else if (name == "all") {
        request_.sanitizers.clear();
      } else {
        request_.sanitizers.erase(name);
      }
    }
  }

  Request request_;
  std::string language_;
  bool only_inputs_ = false;
  bool query_ = false;
  bool stops_ = false;
  bool linker_option_ = false;
  bool source_ = false;
  bool header_ = false;
  bool assembler_ = false;
  bool object_ = false;
};

}  // namespace

std::vector<std::string> split_response(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool inside = false;  // a word has begun, if only by a pair of quotes
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && i + 1 < text.size()) {
      word += text[++i];
      inside = true;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      inside = true;
    } else if (std::string_view(" \t\r\n\v\f").contains(c)) {
      if (inside) words.push_back(std::exchange(word, {}));
      inside = false;
    } else {
      word += c;
      inside = true;
    }
  }
  if (inside) words.push_back(word);
  return words;
}

Request understand(const std::vector<std::string>& arguments) {
  std::vector<std::string> words;
  expand(arguments, 0, words);
  return Reader().read(words);
}

}  // namespace tomos::instrument
