#include "campaign/aims.h"

#include <algorithm>
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
    found(aim, later);
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
          in_between(history, pair, other, [&](const Aim& aim, bool later) {
            Kind& kind = in_block ? in_blocks_ : elsewhere_;
            keep((later ? kind.later : kind.before)[steps.front().step.place], aim);
          });
          if (++partners == kPartners) break;
        }
      }
    }
  }
}

bool Aims::empty() const {
  return in_blocks_.later.empty() && in_blocks_.before.empty() && elsewhere_.later.empty() &&
         elsewhere_.before.empty();
}

Aim Aims::draw(std::uint64_t seed) const {
  if (empty()) return {};
  std::minstd_rand chance(static_cast<std::uint32_t>(seed ^ (seed >> 31)) + 1);
  chance.discard(8);
  const auto any_of = [&chance](const auto& all) {
    return std::next(all.begin(), static_cast<std::ptrdiff_t>(chance() % all.size()));
  };
  const auto is_empty = [](const Kind& kind) { return kind.later.empty() && kind.before.empty(); };
  const bool in_block = is_empty(elsewhere_) || (!is_empty(in_blocks_) && chance() % 4 != 0);
  const Kind& kind = in_block ? in_blocks_ : elsewhere_;
  const bool later = kind.before.empty() || (!kind.later.empty() && chance() % 4 != 0);
  const auto role = any_of(later ? kind.later : kind.before);
  const auto cut = any_of(role->second);
  return *any_of(any_of(cut->second)->second.kept);
}

}  // namespace tomos::campaign
