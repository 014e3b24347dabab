// Any bytes as a binary trace: as they are, and once more with every checksum set right, which lets
// mutations reach what stands behind the checksums.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "round_trip.h"
#include "trace/tomos_layout.h"

namespace {

std::string with_right_checksums(std::string bytes) {
  using tomos::layout::ChunkHead;
  std::uint64_t number = 0;
  std::size_t at = tomos::layout::kFileHead;
  while (at + sizeof(ChunkHead) <= bytes.size()) {
    auto head = tomos::layout::load<ChunkHead>(std::string_view(bytes).substr(at));
    const std::size_t room = bytes.size() - at - sizeof(head);
    head.stored_size = static_cast<std::uint32_t>(std::min<std::size_t>(head.stored_size, room));
    std::memcpy(bytes.data() + at, &head, sizeof(head));
    const std::size_t size = sizeof(head) + head.stored_size;
    head.checksum = tomos::layout::checksum(std::string_view(bytes).substr(at, size), number++);
    std::memcpy(bytes.data() + at, &head, sizeof(head));
    at += size;
  }
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tomos;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  fuzz::round_trip(read_tomos(std::make_unique<Input>(bytes, "input", fuzz::kBlock)));
  const std::string right = with_right_checksums(bytes);
  fuzz::round_trip(read_tomos(std::make_unique<Input>(right, "input", 1 + size % 61)));
  return 0;
}
