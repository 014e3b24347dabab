// Random little programs of two or three threads with locks, or with transactions: as they are
// made, printed, and given to the analysis. tm_little_runs.h runs them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tm/program.h"

namespace tomos::tm {

inline constexpr int kLittleVariables = 3;
inline constexpr int kLittleLocals = 2;
inline constexpr int kLittleLocks = 2;
inline constexpr int kLittleThreads = 3;

struct LittleStmt {
  enum class Kind {
    kLock,
    kUnlock,
    kWait,
    kRead,
    kWrite,
    kCount,
    kIf,
    kIfEqual,
    kLoop,
    kAwait,
    kGuard,
    kFork,
    kJoin
  };
  Kind kind = Kind::kRead;
  int what = 0;          // the variable, lock or thread
  int local = 0;         // read into, asked, or written from; a write of kLittleLocals: a constant
  int lock = 0;          // of kAwait
  bool negated = false;  // kIfEqual
  bool shared = false;   // kLock: as a reader
  std::vector<LittleStmt> children;
  std::uint32_t id = 0;  // of what begins a section: the node that it became
};
using LittleBody = std::vector<LittleStmt>;

struct LittleProgram {
  bool sections = true;  // no: transactions
  // A thread is made by who holds a lock, and may wait for that: what it does then comes
  // afterwards, which the analysis does not know.
  bool forks_inside = false;
  // One lock is taken while another is held: in which order can say that two never meet.
  bool nests = false;
  // Sections do one or the other: the analysis knows what they do in all.
  bool branches_inside = false;
  std::vector<LittleBody> threads;
};

inline void print_little(const LittleBody& body, int depth, std::string& text) {
  using enum LittleStmt::Kind;
  for (const LittleStmt& one : body) {
    const std::string what(1, static_cast<char>('x' + one.what));
    const std::string local(1, static_cast<char>('a' + one.local));
    const std::string lock = "l" + std::to_string(one.kind == kAwait ? one.lock : one.what);
    text += fmt::format("{:{}}", "", 2 * depth);
    switch (one.kind) {
      case kLock:
        text += (one.shared ? "read_lock " : "lock ") + lock;
        break;
      case kUnlock:
        text += "unlock " + lock;
        break;
      case kWait:
        text += "wait " + lock;
        break;
      case kRead:
        text += fmt::format("{} = {}", local, what);
        break;
      case kWrite:
        text += fmt::format("{} = {}", what, one.local == kLittleLocals ? "1" : local + " + 1");
        break;
      case kCount:
        text += what + " += 1";
        break;
      case kIf:
        text += "if " + local;
        break;
      case kIfEqual:
        text += fmt::format("if {} {} {}", what, one.negated ? "!=" : "==", local);
        break;
      case kLoop:
        text += "loop";
        break;
      case kAwait:
        text += fmt::format("while {} wait {}", what, lock);
        break;
      case kGuard:
        text += "with " + lock;
        break;
      case kFork:
        text += "fork " + std::to_string(one.what);
        break;
      case kJoin:
        text += "join " + std::to_string(one.what);
        break;
    }
    text += " #" + std::to_string(one.id) + '\n';
    print_little(one.children, depth + 1, text);
  }
}

inline std::string print_little(const LittleProgram& of) {
  std::string text = of.sections ? "sections\n" : "transactions\n";
  for (std::size_t i = 0; i < of.threads.size(); ++i) {
    text += "thread " + std::to_string(i) + '\n';
    print_little(of.threads[i], 1, text);
  }
  return text;
}

class LittleGenerator {
 public:
  explicit LittleGenerator(unsigned seed) : random_(seed) {}

  LittleProgram make() {
    // Half of them have nothing but locks, and more of these.
    plain_ = below(2) == 0;
    LittleProgram made = {.sections = plain_ || below(3) != 0, .threads = {}};
    sections_ = made.sections;
    shares_ = below(plain_ ? 2 : 4) == 0;
    variables_ = plain_ ? 2 : 1 + below(kLittleVariables);
    locks_ = plain_ ? 2 : 1 + below(kLittleLocks);
    locals_ = plain_ ? 1 : 1 + below(kLittleLocals);
    const int threads = plain_ ? 2 : 2 + below(2);
    for (int i = 0; i < threads; ++i) {
      left_ = threads == 2 ? 6 : 4;
      made.threads.push_back(body(plain_ ? 14 : 3 + below(7), 0, {}));
    }
    // Thread i is made by one before it, which may wait for its end.
    for (int i = 1; i < threads; ++i) {
      int held = 0;
      LittleBody& maker = made.threads[static_cast<std::size_t>(below(i))];
      const int at = below(2) == 0 ? 0 : below(static_cast<int>(maker.size()) + 1);
      for (int j = 0; j < at; ++j) {
        const Kind kind = maker[static_cast<std::size_t>(j)].kind;
        if (kind == Kind::kLock) ++held;
        if (kind == Kind::kUnlock) --held;
      }
      made.forks_inside |= held > 0;
      maker.insert(maker.begin() + at, {.kind = Kind::kFork, .what = i});
      if (below(2) == 0) continue;
      // With a lock it could wait for ever.
      std::vector<std::ptrdiff_t> places;
      held = 0;
      for (std::ptrdiff_t then = 0; then <= std::ssize(maker); ++then) {
        if (then > at && held == 0) places.push_back(then);
        if (then == std::ssize(maker)) break;
        const Kind kind = maker[static_cast<std::size_t>(then)].kind;
        if (kind == Kind::kLock) ++held;
        if (kind == Kind::kUnlock) --held;
      }
      const auto chosen = static_cast<std::size_t>(below(static_cast<int>(places.size())));
      maker.insert(maker.begin() + places[chosen], {.kind = Kind::kJoin, .what = i});
    }
    made.nests = nests_;
    made.branches_inside = branches_;
    return made;
  }

 private:
  using Kind = LittleStmt::Kind;

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  LittleStmt access() {
    --left_;
    const int what = below(7);
    const int variable = below(variables_);
    if (what == 0) return {.kind = Kind::kCount, .what = variable};
    if (what < 4) return {.kind = Kind::kRead, .what = variable, .local = below(locals_)};
    return {.kind = Kind::kWrite,
            .what = variable,
            .local = below(4) == 0 ? kLittleLocals : below(locals_)};
  }

  // `held`: the locks that are, and may not be given back here.
  LittleBody body(int length, int depth, std::set<int> held) {
    LittleBody made;
    std::map<int, bool> mine;  // and whether as a writer
    const auto is_held = [&](int lock) { return held.contains(lock) || mine.contains(lock); };
    const auto inner = [&] {
      std::set<int> all = held;
      for (const auto& [lock, writer] : mine) all.insert(lock);
      return all;
    };
    const auto unlock = [&] {
      auto lock = mine.begin();
      std::advance(lock, below(static_cast<int>(mine.size())));
      made.push_back({.kind = Kind::kUnlock, .what = lock->first});
      mine.erase(lock);
    };
    for (int i = 0; i < length && left_ > 0; ++i) {
      const int what = below(20);
      const int lock = below(locks_);
      const bool inside = !held.empty() || !mine.empty();
      if (!inside && what < 16) {
        if (what < 3 && depth < 2 && !plain_) {
          made.push_back({.kind = what == 0 ? Kind::kLoop : Kind::kIf,
                          .local = below(locals_),
                          .children = body(2 + below(3), depth + 1, held)});
        } else if (!sections_ || what < 7) {
          made.push_back({.kind = Kind::kGuard,
                          .what = sections_ ? lock : 0,
                          .children = body(1 + below(3), depth + 1, {sections_ ? lock : 0})});
        } else {
          const bool shared = shares_ && below(2) == 0;
          made.push_back({.kind = Kind::kLock, .what = lock, .shared = shared});
          mine[lock] = !shared;
        }
        continue;
      }
      if (sections_ && what < 3 && !is_held(lock)) {
        nests_ = true;
        made.push_back({.kind = Kind::kLock, .what = lock});
        mine[lock] = true;
      } else if ((plain_ ? what > 15 && mine.size() == 2 : what == 7) && mine.contains(lock) &&
                 mine[lock]) {  // if they are plain, with another still held
        made.push_back({.kind = Kind::kWait, .what = lock});
      } else if (what == 3 && depth < 3 && !shares_) {
        nests_ |= sections_ && !is_held(lock);
        made.push_back({.kind = Kind::kGuard,
                        .what = sections_ ? lock : 0,
                        .children = body(1 + below(2), depth + 1, [&] {
                          std::set<int> all = inner();
                          all.insert(sections_ ? lock : 0);
                          return all;
                        }())});
      } else if (what < (plain_ ? 10 : 7) && !mine.empty()) {
        unlock();
      } else if (what == 8 && !plain_ && mine.contains(lock) && mine[lock]) {
        left_ -= 2;
        made.push_back({.kind = Kind::kAwait, .what = below(variables_), .lock = lock});
      } else if (what == 9 && inside && depth < 3 && !plain_) {
        --left_;
        branches_ = true;
        made.push_back({.kind = Kind::kIfEqual,
                        .what = below(variables_),
                        .local = below(locals_),
                        .negated = below(3) == 0,
                        .children = body(1 + below(2), depth + 1, inner())});
      } else if (what == 10 && depth < 3 && !plain_) {
        branches_ |= inside;
        made.push_back({.kind = Kind::kIf,
                        .local = below(locals_),
                        .children = body(1 + below(2), depth + 1, inner())});
      } else {
        made.push_back(access());
      }
    }
    while (!mine.empty()) unlock();
    return made;
  }

  std::mt19937 random_;
  bool plain_ = false;
  bool sections_ = true;
  bool shares_ = false;
  int variables_ = 1;
  int locks_ = 1;
  int locals_ = 1;
  bool nests_ = false;
  bool branches_ = false;
  int left_ = 0;  // accesses, of this thread
};

// The same program for the analysis.
class LittleTranslator {
 public:
  Program translate(LittleProgram& of) {
    sections_ = of.sections;
    for (int i = 0; i < kLittleVariables + kLittleLocks; ++i) {
      const std::string name = i < kLittleVariables ? std::string(1, static_cast<char>('x' + i))
                                                    : "l" + std::to_string(i - kLittleVariables);
      program_.globals.push_back({.name = name, .display = name});
    }
    for (std::size_t i = 0; i < of.threads.size(); ++i) {
      const std::string name = i == 0 ? "main" : "f" + std::to_string(i);
      const NodeId body = block(of.threads[i]);
      program_.functions.push_back({.name = name,
                                    .display = name,
                                    .signature = name + "()",
                                    .locals = {"a", "b", "t0", "t1", "t2"},
                                    .body = body});
    }
    return std::move(program_);
  }

 private:
  NodeId add(Node::Kind kind, std::vector<NodeId> children = {}, int number = 0) {
    return program_.add({.kind = kind,
                         .number = static_cast<std::uint32_t>(number),
                         .children = std::move(children),
                         .position = {.line = ++line_, .column = 1}});
  }
  NodeId variable(int which) { return add(Node::Kind::kGlobal, {}, which); }
  NodeId lock(int which) { return variable(kLittleVariables + which); }
  NodeId local(int which) { return add(Node::Kind::kLocal, {}, which); }
  NodeId load(NodeId place) { return add(Node::Kind::kLoad, {place}); }
  NodeId block(LittleBody& body) {
    std::vector<NodeId> parts;
    for (LittleStmt& one : body) parts.push_back(node(one));
    return add(Node::Kind::kSequence, std::move(parts));
  }
  NodeId begins(LittleStmt& of, NodeId made) {
    of.id = static_cast<std::uint32_t>(made);
    return made;
  }
  NodeId node(LittleStmt& of) {
    using enum LittleStmt::Kind;
    switch (of.kind) {
      case kLock: {
        const NodeId made = begins(of, add(Node::Kind::kLock, {lock(of.what)}));
        program_.nodes[of.id].shared = of.shared;
        return made;
      }
      case kUnlock:
        return add(Node::Kind::kUnlock, {lock(of.what)});
      case kWait:
        return begins(of, add(Node::Kind::kWait, {lock(of.what)}));
      case kRead:
        return add(Node::Kind::kAssign, {local(of.local), load(variable(of.what))});
      case kWrite:
        return add(Node::Kind::kAssign,
                   {variable(of.what), of.local == kLittleLocals ? add(Node::Kind::kConstant)
                                                                 : load(local(of.local))});
      case kCount:
        return add(Node::Kind::kUpdate, {variable(of.what), add(Node::Kind::kConstant)});
      case kIf: {
        const NodeId condition = load(local(of.local));
        return add(Node::Kind::kIf, {condition, block(of.children)});
      }
      case kIfEqual: {
        const NodeId now = load(variable(of.what));
        const NodeId condition = add(Node::Kind::kCompare, {now, load(local(of.local))});
        program_.nodes[static_cast<std::size_t>(condition)].negated = of.negated;
        return add(Node::Kind::kIf, {condition, block(of.children)});
      }
      case kLoop:
        return add(Node::Kind::kLoop, {add(Node::Kind::kConstant), block(of.children)});
      case kAwait: {
        const NodeId condition = load(variable(of.what));
        return add(Node::Kind::kLoop,
                   {condition, begins(of, add(Node::Kind::kWait, {lock(of.lock)}))});
      }
      case kGuard: {
        if (!sections_) return begins(of, add(Node::Kind::kAtomic, {block(of.children)}));
        const NodeId place = lock(of.what);
        return begins(of, add(Node::Kind::kGuard, {place, block(of.children)}));
      }
      case kFork: {
        const NodeId made = add(Node::Kind::kFork);
        program_.nodes[static_cast<std::size_t>(made)].name = "f" + std::to_string(of.what);
        return add(Node::Kind::kAssign, {local(kLittleLocals + of.what), made});
      }
      case kJoin:
        return add(Node::Kind::kJoin, {local(kLittleLocals + of.what)});
    }
    return kNoNode;
  }

  Program program_;
  bool sections_ = true;
  std::uint32_t line_ = 0;
};

}  // namespace tomos::tm
