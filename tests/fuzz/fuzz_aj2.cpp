// Any bytes as a program in the core language: nothing may crash, what can be read comes back the
// same when it is written and read again, and inference ends.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/parser.h"
#include "core/printer.h"
#include "infer/infer.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tomos;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto program = core::parse(text, "input");
  if (!program) {
    require(!program.error().what.empty() && !program.error().remedy.empty());
    return 0;
  }
  const std::string written = core::to_text(*program);
  const auto again = core::parse(written, "written");
  require(again.has_value());
  require(core::to_text(*again) == written);

  const auto result = infer::infer_atomicities(*program);
  require(result || (!result.error().what.empty() && !result.error().remedy.empty()));
  return 0;
}
