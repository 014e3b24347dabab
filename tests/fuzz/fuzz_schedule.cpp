// Any bytes as a saved schedule: nothing may crash, and what can be read comes back the same when
// it is written and read again.
#include <cstddef>
#include <cstdint>
#include <string>

#include "campaign/schedule_file.h"
#include "round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tomos;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto schedule = campaign::parse_schedule(text, "input");
  if (!schedule) {
    fuzz::require(!schedule.error().what.empty() && !schedule.error().remedy.empty());
    return 0;
  }
  const std::string written = campaign::to_text(*schedule);
  const auto again = campaign::parse_schedule(written, "written");
  fuzz::require(again.has_value());
  fuzz::require(campaign::to_text(*again) == written);
  return 0;
}
