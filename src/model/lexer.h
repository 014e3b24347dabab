// The words of a Boolean program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "event/error.h"
#include "model/ast.h"

namespace tomos::model {

struct Token {
  enum class Kind : std::uint8_t { kEnd, kName, kKeyword, kNumber, kSign };
  Kind kind = Kind::kEnd;
  std::string_view text;  // of the source
  Place place;
};

// "file.bp:3:14"
std::string place_in(std::string_view file, Place place);

// All tokens and a kEnd. The views are of `source`.
Result<std::vector<Token>> tokens_of(std::string_view source, std::string_view file);

}  // namespace tomos::model
