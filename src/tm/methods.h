// What functions do whose source is not there: the XML file of section 3.3 of the paper. The text
// of its Listing 3 is lost, so the format is ours (docs/tm.md).
//
//   <methods>
//     <method name="rope::length() const"> <read>count</read> </method>
//     <method name="rope::erase()">        <write>count</write> <write>text</write> </method>
//   </methods>
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "event/error.h"

namespace tomos::tm {

struct MethodEffect {
  bool writes = false;
  std::string field;   // of the method's object, made up or real; or
  std::string global;  // this; or
  int argument = 0;    // what this argument leads to, from 1
};

struct DescribedMethod {
  std::string name;   // qualified, with the types of its parameters
  std::string place;  // "methods.xml:3:4"
  std::vector<MethodEffect> effects;
};

using Methods = std::vector<DescribedMethod>;

// `file` is for messages only. Errors name line and column.
Result<Methods> parse_methods(std::string_view text, const std::string& file);

// A file with an empty description for each of these functions, for people to fill in.
std::string methods_template(const std::set<std::string>& signatures);

}  // namespace tomos::tm
