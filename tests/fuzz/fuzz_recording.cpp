// Any bytes as a recording: as they are, and once more with a right header and with all numbers
// made small, which brings the addresses of mutations together. Nothing may crash, and what is
// delivered must be a valid trace, whatever the recording says.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "round_trip.h"
#include "trace/recording.h"

namespace {

using namespace tomos;

struct AddressNames : RecordingNames {
  std::string location(std::uint64_t pc) override { return std::to_string(pc % 64); }
  bool is_users(std::uint64_t pc) override { return pc % 8 != 0; }
  std::string variable(std::uint64_t address, std::uint64_t, std::uint64_t,
                       const recording::Object* object) override {
    return object == nullptr ? std::to_string(address % 64) : "field";
  }
  std::string lock(std::uint64_t address, std::uint64_t, const recording::Object*) override {
    return address % 2 == 0 ? "" : "lock";
  }
};

// A file in memory that every input is written to.
class Scratch {
 public:
  std::string hold(const std::string& bytes) const {
    fuzz::require(::ftruncate(descriptor_, 0) == 0);
    fuzz::require(::pwrite(descriptor_, bytes.data(), bytes.size(), 0) ==
                  static_cast<ssize_t>(bytes.size()));
    return "/proc/self/fd/" + std::to_string(descriptor_);
  }

 private:
  int descriptor_ = ::memfd_create("recording", MFD_CLOEXEC);
};

void read_recording(const std::string& bytes) {
  static const Scratch scratch;
  const auto recording = open_recording(scratch.hold(bytes));
  if (!recording) {
    fuzz::require(!recording.error().what.empty() && !recording.error().remedy.empty());
    return;
  }
  AddressNames names;
  const RecordingOptions options = {.keep_everything = bytes.size() % 2 == 0, .max_pages = 32};
  Validated valid((*recording)->events(names, options), "input", Validation::kLenient);
  fuzz::read(valid);
  fuzz::require(valid.skipped().total == 0);
  fuzz::round_trip((*recording)->events(names, options));
}

std::string tamed(std::string bytes) {
  using recording::Slot;
  if (bytes.size() < recording::kHeaderSize) bytes.resize(recording::kHeaderSize);
  recording::Header header = {};
  std::memcpy(&header, bytes.data(), sizeof(header));
  header.magic = recording::kMagic;
  header.version = recording::kVersion;
  header.next_chunk = bytes.size();
  std::memcpy(bytes.data(), &header, sizeof(header));
  for (std::size_t at = recording::kHeaderSize; at + sizeof(Slot) <= bytes.size();
       at += sizeof(Slot)) {
    Slot slot = {};
    std::memcpy(&slot, bytes.data() + at, sizeof(slot));
    slot.a = recording::pack_a(recording::op_of(slot.a), recording::small_of(slot.a),
                               recording::value_of(slot.a) & 0xffff);
    std::memcpy(bytes.data() + at, &slot, sizeof(slot));
  }
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  read_recording(bytes);
  read_recording(tamed(bytes));
  return 0;
}
