// Nothing is controlled here: what the runtime asks of the scheduler.
#include "schedule/control.h"

namespace tomos::schedule {

thread_local constinit Task* self = nullptr;
bool accesses_wanted = false;

void access(Kind, const volatile void*, std::uint32_t, Address) {}
void block_begins(BlockSource, const char*, Address) {}
void block_ends() {}
void call_begins(Address) {}
void call_ends() {}
bool is_made_thread() { return false; }
void process_ends() {}

}  // namespace tomos::schedule
