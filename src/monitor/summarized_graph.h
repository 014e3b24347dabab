// The summarized conflict graph: Farzan & Madhusudan, "Monitoring Atomicity in Concurrent Programs"
// (CAV 2008), section 3.
//
// A node v for each open transaction, with two sets: S(v), the events it has done, and C(v), the
// events of completed transactions that must come after it. A transaction that ends hands S and C
// on to the nodes before it, and is gone. With k threads and n variables that is k nodes and k*n
// labels, however long the run. As a value it can be copied: the state of a deterministic automaton
// that accepts exactly the serializable runs.
//
// What we do otherwise. The paper keeps direct edges and waits for a self-loop, which may appear
// only when a transaction ends; here edges are kept transitively closed, so a cycle shows at the
// event that closes it. The sets are stored the other way round: for each variable, as bit sets,
// the nodes whose S or C holds a read or a write of it; so an access finds all its predecessors in
// a few words. In C the paper needs thread names only to order a thread's events after its own
// past: here one bit set a thread does that. An access outside any transaction is one that ends at
// once, and needs no node. And since a run goes on after a violation, an event that would close a
// cycle takes on only the order that does not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tomos {

class SummarizedGraph {
 public:
  using Slot = std::uint32_t;  // a thread, and the node of its open transaction
  enum class Space : std::uint8_t { kVariable, kLock };
  enum class Label : std::uint8_t { kRead, kWrite };

  Slot open_thread();
  void close_thread(Slot slot);

  // Closes a thread that may still be joined, and keeps what comes before the join; kNothing if
  // that is nothing. Threads of which the same is to be kept share it. It is kept until each of
  // them is joined.
  using Ended = std::uint32_t;
  static constexpr Ended kNothing = ~Ended{0};
  Ended close_unjoined(Slot slot);
  void join(Slot later, Ended earlier);

  void begin(Slot slot);
  void end(Slot slot);

  // An event of the thread, ordered after every earlier event on the object with label kWrite, and
  // kRead if `after_reads`. Whether that closes a cycle.
  bool order(Slot slot, Space space, std::uint32_t object, bool after_reads);
  // An event of the thread that later ones may be ordered after.
  void record(Slot slot, Space space, std::uint32_t object, Label label);
  // Everything `later` does from now on comes after everything that `earlier` has done. Neither is
  // in a transaction.
  void follow(Slot later, Slot earlier);
  void forget(Space space, std::uint32_t object);

 private:
  using Word = std::uint64_t;
  using Mask = std::vector<Word>;  // a set of nodes

  enum Set : std::uint8_t { kSRead, kSWrite, kCRead, kCWrite };
  static constexpr std::size_t kSets = 4;

  struct Node {
    bool open = false;
    bool has_events = false;
    std::vector<std::uint32_t>
        touched;  // objects that have it in one of their sets: object * 2 + space
  };

  void widen();
  std::span<Word> nodes(Space space, std::uint32_t object, Set set);
  std::span<Word> row(Mask& matrix, Slot slot) {
    return std::span(matrix).subspan(slot * words_, words_);
  }
  void touch(std::span<const Word> mask, Space space, std::uint32_t object);
  void enter(Slot slot);
  void hand_on(std::span<Word> past, Slot slot);
  void close_upward(Mask& mask, Slot slot);
  void put_before(const Mask& mask, Slot slot);

  std::size_t words_ = 1;  // of a mask
  std::vector<Node> nodes_;
  std::vector<Slot> free_;
  Mask before_;  // [slot]: the nodes that must come before it
  Mask after_;   // [slot]: the nodes that must come after it
  Mask past_;    // [slot]: the nodes whose C holds an event of this thread
  struct Past {
    Mask nodes;
    std::size_t threads;
  };
  std::vector<Past> ended_;                        // of threads that may still be joined
  std::vector<Mask> sets_ = std::vector<Mask>(2);  // by space: for each object its kSets masks
  Mask sources_;                                   // scratch
};

}  // namespace tomos
