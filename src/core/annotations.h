// What the front end and whoever writes annotations tell each other: the macros that a project has
// for Clang's thread-safety attributes, and what Clang says of annotated sources. Plain data.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace tomos::core {

struct AnnotationMacros {
  std::string header;                        // the file that defines them
  std::string spelling;                      // how others include it: "port/annotations.h" or <...>
  std::map<std::string, std::string> names;  // "guarded_by": "GUARDED_BY"
  std::set<std::string> visible_in;          // files that include it, perhaps through others
};

struct Place {
  std::string file;
  std::uint32_t line = 0;  // 0: nowhere that could be annotated
  std::uint32_t column = 0;

  friend auto operator<=>(const Place&, const Place&) = default;
};

// Of clang -Wthread-safety, or an error.
struct CompilerWarning {
  enum class Kind : std::uint8_t {
    kError,      // the source does not compile
    kAttribute,  // an attribute makes no sense
    kAccess,     // of what is guarded, without the lock
    kCall,       // without a lock that is required
    kExcluded,   // a call with a lock that it must not have
    kLocking,    // acquired or released twice, or not on all ways
  };
  Kind kind = Kind::kError;
  std::string unit;  // that was compiled
  std::string message;
  Place where;
  Place declared;      // where annotations of the field or function that it names stand
  std::string callee;  // of kExcluded: its name
  Place function;      // where those of the function stand that it is in
  std::string function_name;
  bool in_lambda = false;  // that function is one
};

}  // namespace tomos::core
