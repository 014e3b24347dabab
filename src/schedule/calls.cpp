// The calls that a thread is in, as far as its code is instrumented: they tell apart what is done
// at one place on behalf of many, as in the functions of a library.
#include "schedule/task.h"

namespace tomos::schedule {

namespace {

constexpr std::uint32_t kMaxDepth = 64;
constexpr std::uint32_t kTold = 4;  // of the innermost calls

struct Calls {
  std::uint32_t depth;
  Address sites[kMaxDepth];
};
thread_local constinit Calls calls = {};

}  // namespace

void call_begins(Address site) {
  if (calls.depth < kMaxDepth) calls.sites[calls.depth] = site;
  ++calls.depth;
}

void call_ends() {
  if (calls.depth > 0) --calls.depth;
}

Address place_in_calls(Address pc) {
  Address place = pc;
  const std::uint32_t depth = calls.depth < kMaxDepth ? calls.depth : kMaxDepth;
  for (std::uint32_t i = depth; i > 0 && i + kTold > depth; --i) {
    place = mixed(place ^ calls.sites[i - 1]);
  }
  return place;
}

void note_callers(Task& task) {
  const std::uint32_t depth = calls.depth < kMaxDepth ? calls.depth : kMaxDepth;
  task.caller_count = depth < kCallers ? depth : kCallers;
  for (std::uint32_t i = 0; i < task.caller_count; ++i) {
    task.callers[i] = calls.sites[depth - 1 - i];
  }
}

}  // namespace tomos::schedule
