// Transactions with a single access.
//
// They have no blocks; all they can do is cut those of others. There are many (every access outside
// a transaction is one), most of them to variables that nobody has a block of. So they are kept
// small: the pattern of the transaction, which is all of it but the variable, and a run of
// periods. Those that turn out to cut nothing can be forgotten at any time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "monitor/interned.h"
#include "monitor/transaction_shape.h"

namespace tomos {

class LoneAccesses {
 public:
  using PatternId = std::uint32_t;

  struct Access {
    SharedId variable;
    PatternId pattern;
    PeriodSet::Run periods;
  };

  // `shape` has one access, at `step`. Periods of a thread come in their order.
  void add(Shape& shape, std::size_t step, const PeriodSet::Run& period);

  // Whether the next add() takes more memory: a time to forget().
  bool full() const { return 4 * (accesses_.size() + 1) > 3 * slots_.size(); }
  // Forgets the variables of which `is_forgotten` is true, and makes room for `room` more at least.
  template <class Forget>
  void forget(Forget is_forgotten, std::size_t room = 0) {
    std::erase_if(accesses_, [&](const Access& access) { return is_forgotten(access.variable); });
    rehash(accesses_.size() + room);
  }

  std::span<const Access> all() const { return accesses_; }
  std::size_t size() const { return accesses_.size(); }
  const Interned<Shape>& patterns() const { return patterns_; }

  // All of them, by variable and pattern; of one pattern and thread in the order of periods. The
  // last that can be done with this.
  std::vector<Access> take();

 private:
  std::size_t find(SharedId variable, PatternId pattern, ThreadId thread) const;
  void rehash(std::size_t room);

  Interned<Shape> patterns_;
  std::vector<Access> accesses_;
  // The newest of a variable, pattern and thread: index + 1.
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(1024);
};

}  // namespace tomos
