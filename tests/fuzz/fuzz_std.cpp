// Any bytes as STD text, in blocks of any size.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tomos;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fuzz::round_trip(read_std(std::make_unique<Input>(text, "input", fuzz::kBlock)));

  const auto whole = read_std(std::make_unique<Input>(text, "input", fuzz::kBlock));
  const auto pieces = read_std(std::make_unique<Input>(text, "input", 1 + size % 61));
  fuzz::require(fuzz::read(*whole) == fuzz::read(*pieces) || size > fuzz::kEnough);
  return 0;
}
