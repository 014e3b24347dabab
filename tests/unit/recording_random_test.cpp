// Random recordings against a reference that knows no pages, no bits and no merge: it sorts all
// records and keeps every byte in a map.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "recording_support.h"

namespace tomos::test {
namespace {

using Op = recording::Op;

struct Step {
  std::size_t number = 0;
  std::uint64_t stamp = 0;
  std::uint64_t thread = 0;
  Op op = {};
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t count = 1;
  std::int64_t stride = 0;
  std::uint64_t pc = 0;
  // kTouched: elements read, read once more, written, written once more; the first 64 of them.
  std::array<std::uint64_t, 4> touched = {};
};

// A kTouched record as single accesses; any other step as it is.
std::vector<Step> expanded(const std::vector<Step>& steps) {
  std::vector<Step> all;
  const auto add = [&all](const Step& step) -> Step& {
    Step& added = all.emplace_back(step);
    added.number = all.size();
    return added;
  };
  for (const Step& step : steps) {
    if (step.op != Op::kTouched) add(step);
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::uint64_t bits = step.touched[i]; bits != 0; bits &= bits - 1) {
        Step& single = add(step);
        single.op = i < 2 ? Op::kRead : Op::kWrite;
        single.address += std::countr_zero(bits) * step.size;
      }
    }
  }
  return all;
}

constexpr bool is_atomic(Op op) {
  return op == Op::kAtomicRead || op == Op::kAtomicWrite || op == Op::kAtomicUpdate;
}
constexpr bool writes(Op op) {
  return op == Op::kWrite || op == Op::kWriteRange || op == Op::kWriteRun ||
         op == Op::kAtomicWrite || op == Op::kAtomicUpdate;
}
constexpr bool reads(Op op) { return !writes(op) || op == Op::kAtomicUpdate; }

// What is told of one step: the operation, the thread and the variable, which is its first byte,
// that byte's life, and its size.
using Variable = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;
struct Expected {
  std::uint64_t pc = 0;
  std::uint64_t thread = 0;
  tomos::Op op = {};
  Variable variable;
};

class Reference {
 public:
  Reference(const std::vector<Step>& steps, bool everything)
      : steps_(expanded(steps)), everything_(everything) {
    std::ranges::sort(steps_, {},
                      [](const Step& s) { return std::tuple(s.stamp, s.thread, s.number); });
  }

  std::vector<Expected> tell() {
    walk(
        [this](const Step& step, std::uint64_t from, std::uint64_t to) {
          for (std::uint64_t at = from; at < to; ++at) {
            Byte& byte = bytes_[key(at)];
            byte.threads |= std::uint64_t{1} << step.thread;
            byte.written |= writes(step.op);
          }
          bytes_[key(from)].bound = bytes_[key(to)].bound = true;
        },
        true);
    lives_.clear();
    walk([this](const Step& step, std::uint64_t from, std::uint64_t to) { access(step, from, to); },
         false);
    return std::move(told_);
  }

 private:
  struct Byte {
    std::uint64_t threads = 0;  // a bit for each
    bool written = false;
    bool bound = false;
  };
  using Key = std::pair<std::uint64_t, std::uint64_t>;  // a byte in one life

  Key key(std::uint64_t at) { return {at, lives_[at]}; }
  bool touched(std::uint64_t at) { return bytes_[key(at)].threads != 0; }
  bool matters(std::uint64_t at) {
    const Byte& byte = bytes_[key(at)];
    return everything_ ? byte.threads != 0 : std::popcount(byte.threads) > 1 && byte.written;
  }

  template <class Access>
  void walk(Access access_bytes, bool first) {
    for (const Step& step : steps_) {
      if (step.op == Op::kFree) {
        free(step, first);
      } else if (step.size > 0 && (!is_atomic(step.op) || step.pc != kLibraryPc)) {
        std::uint64_t at = step.address;
        for (std::uint64_t i = 0; i < step.count; ++i, at += step.stride) {
          access_bytes(step, at, at + step.size);
        }
      }
    }
  }

  void free(const Step& step, bool first) {
    const std::uint64_t end = step.address + step.size;
    if (step.size == 0) return;
    bool cuts = false;
    if (first) {
      cuts = touched(step.address) || touched(step.address - 1);
      if (cuts) bytes_[key(step.address)].bound = true;
      if (touched(end) || touched(end - 1)) bytes_[key(end)].bound = true;
    } else {
      for (auto live = alive_.lower_bound({step.address, 0, 0});
           live != alive_.end() && std::get<0>(*live) < end; live = alive_.erase(live)) {
        told_.push_back({step.pc, step.thread, tomos::Op::kFree, *live});
      }
    }
    for (std::uint64_t at = step.address; at < end; ++at) ++lives_[at];
    if (cuts) bytes_[key(step.address)].bound = true;
  }

  void access(const Step& step, std::uint64_t from, std::uint64_t to) {
    std::vector<Variable> variables;
    while (from < to) {
      if (!matters(from)) {
        ++from;
        continue;
      }
      std::uint64_t end = from + 1;
      while (end < to && matters(end) && !bytes_[key(end)].bound) ++end;
      variables.emplace_back(from, lives_[from], end - from);
      alive_.insert(variables.back());
      from = end;
    }
    const auto tell = [&](tomos::Op op) {
      for (const Variable& v : variables) told_.push_back({step.pc, step.thread, op, v});
    };
    if (reads(step.op)) tell(tomos::Op::kRead);
    if (writes(step.op)) tell(tomos::Op::kWrite);
  }

  std::vector<Step> steps_;
  bool everything_;
  std::map<Key, Byte> bytes_;
  std::map<std::uint64_t, std::uint64_t> lives_;
  std::set<Variable> alive_;
  std::vector<Expected> told_;
};

class Generator {
 public:
  explicit Generator(std::uint64_t seed)
      : random_(seed),
        threads_(1 + below(4)),
        where_(below(2) == 0 ? 0x10ff0 : 0x10800),
        span_(below(8) != 0 ? 48 : 0x2800),
        frees_(below(8)) {}

  std::vector<Step> steps(std::size_t seed) {
    const std::size_t count = 1 + seed % (span_ > 100 ? 40 : 200);
    std::vector<std::uint64_t> clock(threads_, 100);
    std::vector<Step> steps;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t thread = below(threads_);
      clock[thread] += below(20) == 0 ? below(200'000) : below(4);
      Step step = {.number = i, .stamp = clock[thread], .thread = thread, .pc = 1 + i};
      choose(step);
      steps.push_back(step);
    }
    return steps;
  }

  RecordingWriter write(const std::vector<Step>& steps) {
    RecordingWriter writer;
    for (const Step& step : steps) {
      if (below(30) == 0) writer.new_chunk(step.thread, step.stamp);
      std::vector<recording::Slot> extra;
      if (step.op == Op::kFree || step.op == Op::kReadRange || step.op == Op::kWriteRange) {
        extra = {{step.size, 0}};
      } else if (step.op == Op::kReadRun || step.op == Op::kWriteRun) {
        extra = {{step.count, static_cast<std::uint64_t>(step.stride)}};
      } else if (step.op == Op::kTouched) {
        extra.resize(recording::kTouchedSlots);
        extra[0] = {step.pc, step.pc};
        for (std::size_t i = 0; i < 4; ++i) extra[1 + 4 * i].a = step.touched[i];
      }
      writer.put(step.thread, step.stamp, step.op, step.address, step.pc,
                 static_cast<std::uint8_t>(step.size), extra);
    }
    return writer;
  }

 private:
  std::uint64_t below(std::uint64_t n) { return random_() % n; }

  void choose(Step& step) {
    step.address = where_ + below(span_);
    if (below(10) < frees_) {
      step.op = Op::kFree;
      step.size = below(5) == 0 ? below(2 * span_) : below(40);
      return;
    }
    constexpr Op kOps[] = {Op::kRead,       Op::kWrite,       Op::kRead,        Op::kWrite,
                           Op::kReadRange,  Op::kWriteRange,  Op::kReadRun,     Op::kWriteRun,
                           Op::kAtomicRead, Op::kAtomicWrite, Op::kAtomicUpdate};
    step.op = kOps[below(std::size(kOps))];
    step.size = below(3) == 0 ? below(18) : std::uint64_t{1} << below(4);
    if (below(8) == 0) {
      step.op = Op::kTouched;
      const std::uint64_t elements = span_ > 100 ? ~std::uint64_t{0} : 0x3f;
      step.touched = {random_() & random_() & elements, 0, random_() & random_() & elements, 0};
      step.touched[1] = step.touched[0] & random_();
      step.touched[3] = step.touched[2] & random_();
      return;
    }
    if (is_atomic(step.op) && below(3) == 0) step.pc = kLibraryPc;
    if (step.op == Op::kReadRange || step.op == Op::kWriteRange) {
      step.size = span_ > 100 && below(3) == 0 ? 0x3000 : below(100);
      if (below(3) == 0) step.address &= ~std::uint64_t{0xfff};
    }
    if (step.op == Op::kReadRun || step.op == Op::kWriteRun) {
      step.count = below(6);
      step.stride = static_cast<std::int64_t>(below(40)) - 20;
      if (step.stride == 0) step.stride = 64;  // would be told as one access
    }
  }

  std::mt19937_64 random_;
  std::uint64_t threads_;
  std::uint64_t where_;
  std::uint64_t span_;
  std::uint64_t frees_;  // in ten steps
};

void compare(std::uint64_t seed, bool everything) {
  Generator generator(seed);
  const std::vector<Step> steps = generator.steps(seed);
  const RecordingWriter writer = generator.write(steps);
  const std::vector<Expected> expected = Reference(steps, everything).tell();

  const MemoryFile file(writer.bytes());
  const auto recording = open_recording(file.path());
  ASSERT_TRUE(recording);
  ASSERT_FALSE((*recording)->damage());
  FakeNames names;
  const auto events = (*recording)->events(names, {.keep_everything = everything});
  const Read read = read_all(*events);
  ASSERT_FALSE(read.failed);

  std::map<std::uint32_t, std::uint64_t> freed;  // how often, by id
  std::map<std::pair<std::uint32_t, std::uint64_t>, Variable> meaning;
  std::map<Variable, std::pair<std::uint32_t, std::uint64_t>> ids;
  std::size_t at = 0;
  for (const Event& event : read.events) {
    if (object_kind(event.op) != NameKind::kVariable) continue;  // locks of atomic operations
    ASSERT_LT(at, expected.size());
    const Expected& want = expected[at++];
    const auto name = [&](NameKind kind, std::uint32_t id) {
      return events->names().name(kind, id);
    };
    ASSERT_EQ(event.op, want.op) << at;
    ASSERT_EQ(name(NameKind::kLocation, event.location), fmt::format("p{}", want.pc)) << at;
    ASSERT_EQ(name(NameKind::kThread, event.thread),
              want.thread == 0 ? "main" : fmt::format("T{}", want.thread));
    const auto& [first, life, size] = want.variable;
    const std::string variable = name(NameKind::kVariable, event.object);
    ASSERT_EQ(variable.substr(0, variable.find(' ')),  // without the number of equal names
              fmt::format("{:x}+{}", first, size));
    // Between two frees an id is one variable, and a variable one id.
    const std::pair id(event.object, freed[event.object]);
    ASSERT_EQ(meaning.try_emplace(id, want.variable).first->second, want.variable);
    ASSERT_EQ(ids.try_emplace(want.variable, id).first->second, id);
    if (event.op == tomos::Op::kFree) ++freed[event.object];
  }
  ASSERT_EQ(at, expected.size());
}

TEST(RecordingRandom, SameAsTheReference) {
  constexpr std::uint64_t kSeeds = 600;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    compare(seed, seed % 5 == 0);
    if (HasFatalFailure()) return;
  }
}

// Steps that need not fit together at all still give a valid trace (tell() checks it).
TEST(RecordingRandom, AlwaysValid) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    RecordingWriter writer;
    const std::uint64_t threads = 1 + random() % 5;
    for (std::uint64_t stamp = 1; stamp <= 300; ++stamp) {
      constexpr Op kOps[] = {Op::kRead,    Op::kWrite,       Op::kAtomicUpdate, Op::kAcquire,
                             Op::kRelease, Op::kReadAcquire, Op::kReadRelease,  Op::kAcquire,
                             Op::kRelease, Op::kDestroy,     Op::kFork,         Op::kJoin,
                             Op::kBarrier, Op::kBegin,       Op::kEnd,          Op::kBegin,
                             Op::kEnd,     Op::kFree,        Op::kExit,         Op::kSignal,
                             Op::kWait};
      const Op op = kOps[random() % (stamp < 250 ? std::size(kOps) - 3 : std::size(kOps))];
      if ((op == Op::kExit || op == Op::kJoin || op == Op::kFork) && random() % 8 != 0) continue;
      const bool extra = op == Op::kBarrier || op == Op::kFree;
      writer.put(
          random() % threads, stamp, op,
          op == Op::kFork || op == Op::kJoin ? random() % threads : random() % 3, 1, 1,
          extra ? std::vector<recording::Slot>{{random() % 3, 0}} : std::vector<recording::Slot>());
    }
    for (const bool everything : {false, true}) {
      const Told told = tell(writer, {.keep_everything = everything});
      ASSERT_FALSE(told.failed) << told.error.where << ": " << told.error.what;
    }
  }
}

}  // namespace
}  // namespace tomos::test
