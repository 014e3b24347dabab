#include "model/independence.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

namespace tomos::model {

namespace {

// Numbers things that are alike with the same number, from `first` on.
template <class Alike>
class Numbering {
 public:
  Numbering(std::vector<const Facts*>& examples, Alike alike)
      : examples_(examples), alike_(alike) {}

  std::uint32_t operator()(const Facts& facts, const Objects& a, const Objects& b) {
    const std::hash<Objects> hash;
    std::vector<std::uint32_t>& same_hash = by_hash_[hash(a) * 31 + hash(b)];
    for (const std::uint32_t number : same_hash) {
      if (alike_(*examples_[number], facts)) return number;
    }
    const auto number = static_cast<std::uint32_t>(examples_.size());
    examples_.push_back(&facts);
    same_hash.push_back(number);
    return number;
  }

 private:
  std::vector<const Facts*>& examples_;
  Alike alike_;
  std::unordered_map<std::size_t, std::vector<std::uint32_t>> by_hash_;
};

bool same_step(const Facts& a, const Facts& b) {
  return a.reads == b.reads && a.writes == b.writes;
}

bool same_future(const Facts& a, const Facts& b) {
  return a.future_reads == b.future_reads && a.future_writes == b.future_writes &&
         a.access_guards == b.access_guards && a.write_guards == b.write_guards;
}

}  // namespace

Independence::Independence(const Program& program) : program_(program) {
  steps_.resize(kFirstStep);
  Numbering step_of(steps_, same_step);
  Numbering future_of(futures_, same_future);
  std::vector<std::uint32_t> first;
  for (const Code& code : program.codes) {
    first.push_back(static_cast<std::uint32_t>(step_at_.size()));
    for (const Location& location : code.locations) {
      const Facts& facts = location.facts;
      const bool touches = facts.reads.any() || facts.writes.any();
      step_at_.push_back(!facts.may_reduce ? kNeverAlone
                         : touches         ? step_of(facts, facts.reads, facts.writes)
                                           : kLocal);
      future_at_.push_back(future_of(facts, facts.future_reads, facts.future_writes));
    }
  }
  for (std::size_t t = 0; t < program.threads.size(); ++t) {
    field_[t] = program.threads[t].field;
    first_[t] = first[program.threads[t].code];
  }
  answers_.resize(steps_.size());
}

std::uint32_t Independence::answer(std::uint32_t step, std::uint32_t future) {
  const Facts& own = *steps_[step];
  const Facts& other = *futures_[future];
  const Objects by_write = own.writes & (other.future_reads | other.future_writes);
  const Objects by_read = own.reads & other.future_writes;
  if ((by_write | by_read).none()) return kIndependent;
  if (other.access_guards.empty()) return kDependent;
  Guards needed;
  const auto add = [&](const Objects& locks) {
    std::vector<std::uint16_t>& fields = needed.emplace_back();
    for (std::size_t i = 0; i < program_.locks.size(); ++i) {
      if (locks.test(program_.lock_object(i))) {
        fields.push_back(static_cast<std::uint16_t>(program_.first_lock + i));
      }
    }
    return !fields.empty();
  };
  for (std::size_t object = 0; object < program_.objects(); ++object) {
    if (by_write.test(object) && !add(other.access_guards[object])) return kDependent;
    if (by_read.test(object) && !add(other.write_guards[object])) return kDependent;
  }
  if (needed.size() == 1 && needed[0].size() == 1) return kOneLock | needed[0][0];
  guards_.push_back(std::move(needed));
  return static_cast<std::uint32_t>(kGuarded + guards_.size() - 1);
}

bool Independence::are_held(std::uint32_t answer, std::span<const Value> values,
                            std::size_t thread) const {
  if ((answer & kOneLock) != 0) return values[answer & ~kOneLock] == thread + 1;
  return std::ranges::all_of(guards_[answer - kGuarded], [&](const auto& locks) {
    return std::ranges::any_of(locks,
                               [&](std::uint16_t field) { return values[field] == thread + 1; });
  });
}

bool Independence::of_others(std::uint32_t step, std::span<const Value> values,
                             std::size_t thread) {
  std::vector<std::uint32_t>& answers = answers_[step];
  if (answers.empty()) answers.resize(futures_.size(), kNotAsked);
  const std::size_t threads = program_.threads.size();
  for (std::size_t t = 0; t < threads; ++t) {
    if (t == thread) continue;
    const std::uint32_t other = future(values, t);
    std::uint32_t& known = answers[other];
    if (known == kIndependent) continue;
    if (known == kNotAsked) known = answer(step, other);
    if (known == kIndependent) continue;
    if (known == kDependent || !are_held(known, values, thread)) return false;
  }
  return true;
}

}  // namespace tomos::model
