// Memory accesses of instrumented code as switching points.
#include "schedule/task.h"

namespace tomos::schedule {

namespace {

bool is_on_own_stack(Address address) {
  const auto here = reinterpret_cast<Address>(__builtin_frame_address(0));
  // Close above this frame: nearly always a variable of one of the callers.
  return address - here < 0x10000;
}

}  // namespace

void access(Kind kind, const volatile void* address, std::uint32_t size, Address pc) {
  if (!controlled()) return;
  const bool atomic = kind == Kind::kAtomicRead || kind == Kind::kAtomicWrite;
  if (!atomic && is_on_own_stack(id(address)) && !is_touched_by_others(id(address))) return;
  if (world.task_count > 1 && is_switching_point(pc)) {
    Task& task = *self;
    if (task.last_object == id(address)) {
      ++task.same_object;
      if (is_spinning(task)) {
        const AtWork at_work;
        stand_back(task);
      }
    } else {
      task.last_object = id(address);
      task.same_object = 0;
    }
    take_turn({.kind = kind, .object = address, .pc = pc});
  }
  const AtWork at_work;
  accessed(*self, kind, id(address), size, pc);
}

}  // namespace tomos::schedule
