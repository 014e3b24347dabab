// Any bytes as the stored summary of a translation unit: nothing may crash, and what can be read
// can be merged, analysed, and stored again as the same bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "summary/stored.h"
#include "summary/summary.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tomos;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto stored = cpp::unpack(bytes);
  if (!stored) return 0;
  const std::string again = cpp::pack(*stored);
  if (const auto back = cpp::unpack(again); !back || cpp::pack(*back) != again) std::abort();
  cpp::Merger merger;
  merger.add(stored->summary);
  merger.add(stored->summary);
  (void)merger.take();
  return 0;
}
