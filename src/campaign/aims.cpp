#include "campaign/aims.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <random>
#include <unordered_map>

namespace tomos::campaign {

using schedule::Aim;
using schedule::Mark;
using schedule::Step;

namespace {

constexpr std::size_t kNear = 8;  // steps of a thread between which a cut is looked for
constexpr std::size_t kNearInBlock = 48;
constexpr std::size_t kPartners = 4;  // threads that may come in between, of many
constexpr std::size_t kMeetings = 6;  // with one object, of many
constexpr std::size_t kAlikeKept = 8;
constexpr std::size_t kMostLookedAt = 1'000'000;  // looked at, for one log: a second or so

// What speaks for an aim. A trial has one with the sign but for one in so many, if there are such.
struct Sign {
  std::uint32_t bit;
  std::uint32_t one_in;
};
// The thread holds a lock from the one step to the other, which does not keep the other thread out.
constexpr Sign kLocked = {.bit = 1, .one_in = 8};
// Both steps are in one atomic block.
constexpr Sign kInBlock = {.bit = 2, .one_in = 4};
// What is to come in between came later on record: what came before may be what brought the thread
// there.
constexpr Sign kLater = {.bit = 4, .one_in = 4};
// The other thread comes to the objects in the same order. If it comes to them in the other order,
// that is often because somebody has thought of it: who writes one last reads it first.
constexpr Sign kSameOrder = {.bit = 8, .one_in = 8};
constexpr std::array kSigns = {kLocked, kInBlock, kLater, kSameOrder};

constexpr int kDraws = 16;  // before one that was put back is taken

struct Numbered {
  Step step;
  std::uint32_t nth;  // at this place
  std::size_t at;     // in the log
};

// What the threads did, each for itself.
struct History {
  std::map<std::uint32_t, std::vector<Numbered>> threads;
  // Where in these an object was used.
  std::unordered_map<std::uint64_t, std::map<std::uint32_t, std::vector<std::size_t>>> uses;
};

History history_of(std::span<const Step> log) {
  History history;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> passed;
  for (std::size_t at = 0; at < log.size(); ++at) {
    const Step& step = log[at];
    // To give a lock back is never what makes the difference.
    if (step.object == 0 || step.place == 0 || step.kind == schedule::Kind::kUnlock) continue;
    std::vector<Numbered>& steps = history.threads[step.thread];
    history.uses[step.object][step.thread].push_back(steps.size());
    steps.push_back({.step = step, .nth = ++passed[{step.thread, step.place}], .at = at});
  }
  return history;
}

bool is_read(schedule::Kind kind) {
  return kind == schedule::Kind::kRead || kind == schedule::Kind::kAtomicRead;
}

bool conflict(const Step& one, const Step& other) {
  return one.object == other.object && !(is_read(one.kind) && is_read(other.kind));
}

Mark mark_of(const Numbered& numbered) {
  return {.place = numbered.step.place, .thread = numbered.step.thread, .nth = numbered.nth};
}

// At most so many of them, evenly.
template <class F>
void some_of(const std::vector<std::size_t>& all, F take) {
  const std::size_t count = std::min(all.size(), kMeetings);
  for (std::size_t i = 0; i < count; ++i) take(all[i * all.size() / count]);
}

// The step of `uses` that is nearest to `place` and conflicts with the step.
const std::size_t* nearest(const std::vector<std::size_t>& uses, std::size_t place,
                           const std::vector<Numbered>& steps, const Step& step) {
  const auto distance = [place](std::size_t at) { return at < place ? place - at : at - place; };
  const auto from = std::ranges::lower_bound(uses, place);
  const std::size_t* best = nullptr;
  const auto look = [&](std::size_t at) {
    if (!conflict(steps[uses[at]].step, step)) return false;
    if (best == nullptr || distance(uses[at]) < distance(*best)) best = &uses[at];
    return true;
  };
  const auto middle = static_cast<std::size_t>(from - uses.begin());
  for (std::size_t at = middle; at < uses.size() && distance(uses[at]) <= kNear; ++at) {
    if (look(at)) break;
  }
  for (std::size_t at = middle; at > 0 && distance(uses[at - 1]) <= kNear; --at) {
    if (look(at - 1)) break;
  }
  return best;
}

bool is_lock(const Step& step) {
  return step.kind == schedule::Kind::kLock || step.kind == schedule::Kind::kReadLock;
}

bool is_held(const Step& step, std::uint64_t lock) {
  return lock != 0 && std::ranges::find(step.held, lock) != std::end(step.held);
}

// Two steps of a thread, and the locks that it holds from the one to the other.
struct Pair {
  const Numbered& first;
  const Numbered& second;
  std::vector<std::uint64_t> locks;
};

Pair pair_of(const std::vector<Numbered>& steps, std::size_t first, std::size_t second) {
  Pair pair = {.first = steps[first], .second = steps[second], .locks = {}};
  for (const std::uint64_t lock : pair.second.step.held) {
    const auto taken = [lock](const Numbered& one) {
      return is_lock(one.step) && one.step.object == lock;
    };
    if (lock == 0 || !(is_held(pair.first.step, lock) || taken(pair.first))) continue;
    if (std::any_of(&steps[first] + 1, &steps[second], taken)) continue;
    pair.locks.push_back(lock);
  }
  return pair;
}

// Whether the step needs a lock that the thread with the pair has.
bool is_locked_out(const Pair& pair, const Step& step) {
  return std::ranges::any_of(pair.locks, [&step](std::uint64_t lock) {
    return is_held(step, lock) || (is_lock(step) && step.object == lock);
  });
}

// What the other thread could do between the two steps.
template <class F>
void in_between(const History& history, const Pair& pair, std::uint32_t other, F found) {
  const Numbered& first = pair.first;
  const Numbered& second = pair.second;
  const auto& first_uses = history.uses.at(first.step.object);
  const auto& second_uses = history.uses.at(second.step.object);
  const auto firsts = first_uses.find(other);
  const auto seconds = second_uses.find(other);
  if (firsts == first_uses.end() || seconds == second_uses.end()) return;
  const std::vector<Numbered>& steps = history.threads.at(other);
  some_of(seconds->second, [&](std::size_t at) {
    if (!conflict(steps[at].step, second.step)) return;
    const std::size_t* const met = nearest(firsts->second, at, steps, first.step);
    if (met == nullptr) return;
    const std::size_t from = std::min(at, *met);
    std::size_t to = std::max(at, *met);
    // It takes what the first thread wants, and comes to want what the first has: a deadlock.
    if (from == at && is_lock(steps[at].step) && is_held(steps[to].step, steps[at].step.object)) {
      to = at;
    }
    for (std::size_t i = from; i <= to; ++i) {
      if (is_locked_out(pair, steps[i].step)) return;
    }
    Aim aim = {
        .cut = mark_of(second), .from = mark_of(steps[from]), .to = mark_of(steps[to]), .then = {}};
    const bool later = steps[from].at > second.at;
    if (later) {
      const auto then = std::ranges::upper_bound(steps, second.at, {}, &Numbered::at);
      const bool can_go_on =
          std::none_of(then, steps.begin() + static_cast<std::ptrdiff_t>(from),
                       [&](const Numbered& one) { return is_locked_out(pair, one.step); });
      if (can_go_on) aim.then = mark_of(*then);
    }
    const bool same_order = from == to || to == at;
    found(aim, (pair.locks.empty() ? 0 : kLocked.bit) | (later ? kLater.bit : 0) |
                   (same_order ? kSameOrder.bit : 0));
  });
}

}  // namespace

void Aims::keep(Role& role, const Aim& aim) {
  Alike& alike = role[aim.cut.place][{aim.from.place, aim.to.place}];
  ++alike.found;
  if (alike.kept.size() < kAlikeKept) {
    alike.kept.push_back(aim);
    return;
  }
  // Each of those found has the same chance to be kept.
  std::minstd_rand chance(alike.found);
  chance.discard(8);
  if (const std::size_t at = chance() % alike.found; at < kAlikeKept) alike.kept[at] = aim;
}

void Aims::add(std::span<const Step> log) {
  const History history = history_of(log);
  std::size_t looked_at = 0;
  for (std::size_t distance = 1; distance <= kNearInBlock; ++distance) {
    for (const auto& [thread, steps] : history.threads) {
      for (std::size_t at = distance; at < steps.size() && looked_at < kMostLookedAt; ++at) {
        const Numbered& first = steps[at - distance];
        const Numbered& second = steps[at];
        const bool in_block = first.step.block != 0 && first.step.block == second.step.block;
        if (!in_block && distance > kNear) continue;
        const Pair pair = pair_of(steps, at - distance, at);
        std::size_t partners = 0;
        for (const auto& [other, uses] : history.uses.at(second.step.object)) {
          if (other == thread) continue;
          ++looked_at;
          in_between(history, pair, other, [&](const Aim& aim, std::uint32_t signs) {
            if (in_block) signs |= kInBlock.bit;
            keep(classes_[signs][steps.front().step.place], aim);
          });
          if (++partners == kPartners) break;
        }
      }
    }
  }
}

namespace {

std::array<std::uint64_t, 6> key_of(const Aim& aim) {
  const auto who = [](const Mark& mark) { return std::uint64_t{mark.thread} << 32 | mark.nth; };
  return {aim.cut.place, who(aim.cut), aim.from.place, who(aim.from), aim.to.place, who(aim.to)};
}

}  // namespace

void Aims::put_back(const Aim& aim) { put_back_.insert(key_of(aim)); }

bool Aims::is_put_back(const Aim& aim) const { return put_back_.contains(key_of(aim)); }

bool Aims::empty() const { return classes_.empty(); }

template <class Chance>
const Aims::Cuts& Aims::some_class(Chance& chance) const {
  std::vector<Classes::const_iterator> left;
  for (auto one = classes_.begin(); one != classes_.end(); ++one) left.push_back(one);
  for (const Sign& sign : kSigns) {
    const bool wanted = chance() % sign.one_in != 0;
    const auto differs = [&](const auto& one) { return ((one->first & sign.bit) != 0) != wanted; };
    if (!std::ranges::all_of(left, differs)) std::erase_if(left, differs);
  }
  return left.front()->second;  // the only one: they differ in a sign
}

Aim Aims::draw(std::uint64_t seed) const {
  if (empty()) return {};
  std::minstd_rand chance(static_cast<std::uint32_t>(seed ^ (seed >> 31)) + 1);
  chance.discard(8);
  const auto any_of = [&chance](const auto& all) {
    return std::next(all.begin(), static_cast<std::ptrdiff_t>(chance() % all.size()));
  };
  Aim aim = {};
  for (int draws = 0; draws < kDraws; ++draws) {
    const auto role = any_of(some_class(chance));
    const auto cut = any_of(role->second);
    aim = *any_of(any_of(cut->second)->second.kept);
    if (!is_put_back(aim)) break;
  }
  return aim;
}

}  // namespace tomos::campaign
