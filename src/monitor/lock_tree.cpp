#include "monitor/lock_tree.h"

#include <utility>

#include "monitor/interned.h"

namespace tomos {

namespace {

constexpr std::size_t kNoted = 4096;  // a power of two

}  // namespace

LockTree::LockTree(const AnalysisOptions& options, std::size_t places)
    : context_(options),
      places_(places),
      slots_(64, kRoot),
      periods_(1),
      noted_(kNoted, Noted{.request = kRoot, .period = kNever}) {
  nodes_.push_back({});
}

void LockTree::take(const Event& event) {
  switch (event.op) {
    case Op::kRead:
    case Op::kWrite:
    case Op::kNew:
    case Op::kEscape:
    case Op::kFree:
      return;
    case Op::kAcquire:
    case Op::kReadAcquire:
      return acquire(event);
    case Op::kRelease:
    case Op::kReadRelease:
      return release(event);
    case Op::kBegin:
    case Op::kEnd:
    case Op::kFork:
    case Op::kJoin:
    case Op::kBarrier:
    case Op::kSignal:
    case Op::kWait:
    case Op::kExit:
      if (context_.take(event) != Context::Step::kNothing) ++thread(event.thread).transactions;
      return;
  }
}

LockTree::Thread& LockTree::thread(ThreadId id) {
  if (id >= threads_.size()) threads_.resize(id + std::size_t{1});
  return threads_[id];
}

void LockTree::acquire(const Event& event) {
  Thread& own = thread(event.thread);
  const Context::Thread& now = context_.thread(event.thread);
  const LocksetId held = now.locks;
  if (held == 0) {
    context_.take(event);
    own.origins.push_back(origin(event));
    return;
  }
  if (own.at == kRoot) own.at = path_to(own, now.held);
  if (context_.take(event) != Context::Step::kAcquire) return;

  const Origin here = origin(event);
  const ModeLock lock = mode_lock(event.object, event.op == Op::kReadAcquire);
  const NodeId request = child(own.at, &own.origins.back(), lock, here);
  if (event.count == 0) note(request, held, context_.period(event.thread));
  if (now.held.size() == own.origins.size()) {  // it was held for reading
    own.at = kRoot;
  } else {
    own.at = request;
    own.origins.push_back(here);
  }
}

void LockTree::release(const Event& event) {
  if (context_.take(event) != Context::Step::kRelease) return;
  Thread& own = thread(event.thread);
  const Context::Thread& now = context_.thread(event.thread);
  if (now.held.size() < own.origins.size()) {
    if (own.origins.back().lock == event.object) {
      own.origins.pop_back();
    } else {
      std::erase_if(own.origins, [&](const Origin& one) { return one.lock == event.object; });
    }
  }
  // Nearly always it was the lock acquired last.
  const Node& node = nodes_[own.at];
  own.at = node.is_request() && node.held == now.locks ? node.parent : kRoot;
}

LockTree::Origin LockTree::origin(const Event& event) {
  const TransactionBounds& transaction = context_.thread(event.thread).transaction;
  const bool inside = transaction.inside();
  return {.lock = event.object,
          .place = event.location,
          .label = inside ? transaction.label : 0,
          .begin = inside ? transaction.start : 0,
          .transaction = thread(event.thread).transactions};
}

LockTree::NodeId LockTree::path_to(const Thread& thread, const std::vector<Context::Held>& held) {
  NodeId at = kRoot;
  for (std::size_t i = 0; i < held.size(); ++i) {
    const Origin* before = i == 0 ? nullptr : &thread.origins[i - 1];
    at = child(at, before, held[i].code(), thread.origins[i]);
  }
  return at;
}

LockTree::NodeId LockTree::child(NodeId parent, const Origin* before, ModeLock lock,
                                 const Origin& origin) {
  Node node{.parent = parent, .lock = lock};
  if (has_all_places()) {
    node.place = origin.place;
    node.label = origin.label;
    node.begin = origin.begin;
    node.is_same = before != nullptr && before->transaction == origin.transaction;
  }
  std::size_t slot = find(node);
  if (slots_[slot] != kRoot) return slots_[slot];
  if (slots_.size() < 2 * (nodes_.size() + 1)) {
    grow();
    slot = find(node);
  }
  nodes_.push_back(node);
  slots_[slot] = static_cast<NodeId>(nodes_.size() - 1);
  return slots_[slot];
}

std::size_t LockTree::find(const Node& node) const {
  std::uint64_t h = mix(node.parent, node.lock);
  h = mix(h, node.place);
  h = mix(h, (std::uint64_t{node.label} << 32U) | node.begin);
  if (node.is_same) h = ~h;
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = h & mask;; i = (i + 1) & mask) {
    if (slots_[i] == kRoot) return i;
    const Node& known = nodes_[slots_[i]];
    if (known.parent == node.parent && known.lock == node.lock && known.place == node.place &&
        known.label == node.label && known.begin == node.begin && known.is_same == node.is_same) {
      return i;
    }
  }
}

void LockTree::grow() {
  slots_.assign(2 * slots_.size(), kRoot);
  for (std::size_t id = 1; id < nodes_.size(); ++id) {
    slots_[find(nodes_[id])] = static_cast<NodeId>(id);
  }
}

void LockTree::note(NodeId request, LocksetId held, PeriodId period) {
  Node& node = nodes_[request];
  node.held = held;
  if (node.period == period) return;
  if (!node.is_request()) {
    node.period = period;
    return;
  }
  Noted& noted = noted_[mix(request, period) & (kNoted - 1)];
  if (noted.request == request && noted.period == period) return;
  noted = {.request = request, .period = period};
  if (node.periods == 0) {
    node.periods = static_cast<std::uint32_t>(periods_.size());
    context_.periods().add_to(periods_.emplace_back(), node.period);
  }
  context_.periods().add_to(periods_[node.periods], period);
}

PeriodSet LockTree::when(NodeId request) const {
  const Node& node = nodes_[request];
  if (node.periods != 0) return periods_[node.periods];
  PeriodSet only;
  context_.periods().add_to(only, node.period);
  return only;
}

}  // namespace tomos
