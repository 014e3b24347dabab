#include "runtime/familiar.h"

#include "runtime/runtime.h"

namespace tomos::runtime {

using recording::Op;
using recording::Slot;

namespace {

std::uint64_t lives_of(const Familiar& familiar) {
  std::uint64_t sum = 0;
  for (const Familiar::Step* step = familiar.steps; step->what != 0; ++step) {
    sum = mixed(sum, lives.of(step->address()));
  }
  return sum;
}

}  // namespace

// Four places for each: neighbouring calls often fall together.
Familiar& familiar_at(Thread& thread, Address begin_pc) {
  constexpr std::size_t kWays = 4;
  Familiar* const set = &thread.familiars[(begin_pc * 0x9e37'79b9'7f4a'7c15U) >> 57 & ~(kWays - 1)];
  Familiar* empty = nullptr;
  for (Familiar* way = set; way < set + kWays; ++way) {
    if (way->begin_pc == begin_pc) return *way;
    if (way->begin_pc == 0) empty = way;
  }
  return empty != nullptr ? *empty : set[(begin_pc >> 4) % kWays];
}
static_assert(kFamiliar == 1U << (64 - 57));

bool is_still(Familiar& familiar) {
  const std::uint64_t ends = lives.ends();
  if (ends == familiar.ends) return true;
  if (lives_of(familiar) != familiar.lives) return false;
  familiar.ends = ends;
  return true;
}

bool begin_familiar(Thread& thread) {
  Familiar& familiar = familiar_at(thread, thread.begin_pc);
  if (familiar.label != thread.label || familiar.begin_pc != thread.begin_pc ||
      familiar.period != thread.period || familiar.held != thread.mark.held) {
    return false;
  }
  if (!is_still(familiar)) return false;
  thread.familiar = &familiar;
  thread.next_step = familiar.steps;
  return true;
}

void abandon_familiar(Thread& thread) {
  Familiar* const familiar = thread.familiar;
  if (familiar == nullptr) return;
  const Familiar::Step* const end = thread.next_step;
  thread.familiar = nullptr;
  familiar->label = 0;
  ++familiar->misses;
  thread.filter.new_epoch();
  for (const Familiar::Step* step = familiar->steps; step < end; ++step) {
    take_access(thread, step->address(), step->size(), step->write(), step->pc);
  }
}

void learn_familiar(Thread& thread, const Ended& ended) {
  Familiar& familiar = familiar_at(thread, ended.begin_pc);
  if (familiar.begin_pc != ended.begin_pc) {
    familiar = {.begin_pc = ended.begin_pc};
  } else if (familiar.misses >= Familiar::kPatience) {
    return;
  }
  familiar.label = 0;
  const std::uint64_t ends = lives.ends();
  std::size_t count = 0;
  for (const Slot* slot = ended.mark.slot; slot < thread.next; ++slot) {
    const Op op = recording::op_of(slot->a);
    if (op == Op::kBegin || op == Op::kStack || op == Op::kTime) continue;
    if ((op != Op::kRead && op != Op::kWrite) || count == Familiar::kMaxSteps) return;
    // The transaction ended a while ago: there may be another variable by now.
    if (lives.ended_since(ended.mark.ends, recording::value_of(slot->a))) return;
    familiar.steps[count++] = {
        .what = Familiar::Step::pack(recording::value_of(slot->a), recording::small_of(slot->a),
                                     op == Op::kWrite),
        .pc = recording::pc_of(slot->b)};
  }
  familiar.steps[count] = {};
  familiar.label = ended.label;
  familiar.held = ended.mark.held;
  familiar.period = thread.period;
  familiar.ends = ends;
  familiar.lives = lives_of(familiar);
}

}  // namespace tomos::runtime
