#include "infer/conditional.h"

#include <algorithm>

#include "core/printer.h"

namespace tomos::infer {

using core::Lock;

std::optional<LockId> Substitution::find(const std::string& name) const {
  for (const auto& [from, to] : pairs) {
    if (from == name) return to;
  }
  return std::nullopt;
}

LockId substitute(Locks& locks, const Substitution& theta, LockId lock) {
  const Lock::Kind kind = locks[lock].kind;
  if (kind == Lock::Kind::kGhost || kind == Lock::Kind::kVariable) {
    return theta.find(locks[lock].name).value_or(lock);
  }
  if (kind != Lock::Kind::kField) return lock;
  const LockId base = substitute(locks, theta, locks[lock].base);
  const std::string name = locks[lock].name;
  return locks.field(base, name);
}

Conditionals::Conditionals(Locks& locks) : locks_(locks), nodes_(kBasics) {}

std::optional<Basic> Conditionals::basic(Atomicity a) const {
  if (!is_basic(a)) return std::nullopt;
  return static_cast<Basic>(a);
}

// What a predicate is whoever asks: only ghost parameters can be any lock.
std::optional<bool> Conditionals::known(Predicate p) const {
  const Lock::Kind kind = locks_[p.lock].kind;
  if (kind == Lock::Kind::kGhost) return std::nullopt;
  switch (p.kind) {
    case Predicate::Kind::kIsNone:
      return kind == Lock::Kind::kNone;
    case Predicate::Kind::kIsAlways:
      return kind == Lock::Kind::kAlways;
    case Predicate::Kind::kHeld:
      break;
  }
  if (kind == Lock::Kind::kNone) return false;
  if (kind == Lock::Kind::kAlways || kind == Lock::Kind::kThread) return true;
  return std::nullopt;
}

template <class Rebuild>
Atomicity Conditionals::rebuild(Atomicity a, std::unordered_map<Atomicity, Atomicity>& done,
                                const Rebuild& make_node) {
  if (const auto at = done.find(a); at != done.end()) return at->second;
  if (is_basic(a)) return a;
  const Node at = node(a);
  const Atomicity then = rebuild(at.then, done, make_node);
  const Atomicity otherwise = rebuild(at.otherwise, done, make_node);
  const Atomicity made = make_node(at.predicate, then, otherwise);
  done.emplace(a, made);
  return made;
}

Atomicity Conditionals::restrict(Atomicity a, Predicate p, bool value) {
  if (is_basic(a) || node(a).predicate > p) return a;
  if (node(a).predicate == p) return value ? node(a).then : node(a).otherwise;
  std::unordered_map<Atomicity, Atomicity> done;
  return rebuild(a, done, [&](Predicate q, Atomicity x, Atomicity y) {
    if (q == p) return value ? x : y;
    return make(q, x, y);
  });
}

Atomicity Conditionals::assume(Atomicity a, Predicate p, bool value) {
  a = restrict(a, p, value);
  if (!value || is_basic(a)) return a;
  using enum Predicate::Kind;
  switch (p.kind) {
    case kIsNone:
      a = restrict(a, {.kind = kIsAlways, .lock = p.lock}, false);
      return restrict(a, {.kind = kHeld, .lock = p.lock}, false);
    case kIsAlways:
      a = restrict(a, {.kind = kIsNone, .lock = p.lock}, false);
      return restrict(a, {.kind = kHeld, .lock = p.lock}, true);
    case kHeld:
      return restrict(a, {.kind = kIsNone, .lock = p.lock}, false);
  }
  return a;
}

// p comes before all predicates of both sides, and both sides have what follows from it.
Atomicity Conditionals::make(Predicate p, Atomicity then, Atomicity otherwise) {
  if (then == otherwise || assume(otherwise, p, true) == then) return otherwise;
  const Node made = {.predicate = p, .then = then, .otherwise = otherwise};
  const auto [at, is_new] = ids_.try_emplace(made, Atomicity{});
  if (is_new) {
    at->second = static_cast<Atomicity>(nodes_.size());
    nodes_.push_back(made);
  }
  return at->second;
}

Atomicity Conditionals::choice(Predicate p, Atomicity then, Atomicity otherwise) {
  if (const std::optional<bool> value = known(p)) return *value ? then : otherwise;
  if (then == otherwise) return then;
  if (locks_[p.lock].kind == Lock::Kind::kUnknown) return join(then, otherwise);
  // The diagram's order may want something else first.
  Predicate first = p;
  for (const Atomicity side : {then, otherwise}) {
    if (!is_basic(side)) first = std::min(first, node(side).predicate);
  }
  if (first == p) return make(p, assume(then, p, true), assume(otherwise, p, false));
  const auto side = [&](bool value) {
    const Atomicity a = assume(then, first, value);
    const Atomicity b = assume(otherwise, first, value);
    if (value && first.lock == p.lock) {  // none or always, and so p is known
      return p.kind == Predicate::Kind::kHeld && first.kind == Predicate::Kind::kIsAlways ? a : b;
    }
    return choice(p, a, b);
  };
  const Atomicity when_true = side(true);
  return make(first, when_true, side(false));
}

Atomicity Conditionals::combine(Op op, Atomicity a, Atomicity b) {
  if (is_basic(a) && is_basic(b)) {
    const Basic x = static_cast<Basic>(a);
    const Basic y = static_cast<Basic>(b);
    switch (op) {
      case Op::kSequence:
        return constant(infer::sequence(x, y));
      case Op::kJoin:
        return constant(infer::join(x, y));
      case Op::kMeet:
        return constant(infer::meet(x, y));
    }
  }
  const std::tuple key(op, a, b);
  if (const auto done = combined_.find(key); done != combined_.end()) return done->second;
  const Predicate first = is_basic(a)   ? node(b).predicate
                          : is_basic(b) ? node(a).predicate
                                        : std::min(node(a).predicate, node(b).predicate);
  const Atomicity then = combine(op, assume(a, first, true), assume(b, first, true));
  const Atomicity otherwise = combine(op, assume(a, first, false), assume(b, first, false));
  const Atomicity made = make(first, then, otherwise);
  combined_.emplace(key, made);
  return made;
}

Atomicity Conditionals::iterate(Atomicity a) {
  std::unordered_map<Atomicity, Atomicity> done = {
      {constant(Basic::kAtomic), constant(Basic::kCompound)}};
  return rebuild(a, done, [&](Predicate p, Atomicity x, Atomicity y) { return make(p, x, y); });
}

Atomicity Conditionals::substitute(Atomicity a, const Substitution& theta) {
  std::unordered_map<Atomicity, Atomicity> done;
  return rebuild(a, done, [&](Predicate p, Atomicity x, Atomicity y) {
    const LockId lock = infer::substitute(locks_, theta, p.lock);
    return choice({.kind = p.kind, .lock = lock}, x, y);
  });
}

Atomicity Conditionals::transaction(Atomicity a) {
  std::unordered_map<Atomicity, Atomicity> done;
  for (const Basic basic : {Basic::kLeft, Basic::kRight, Basic::kCompound}) {
    done[constant(basic)] = constant(Basic::kAtomic);
  }
  return rebuild(a, done, [&](Predicate p, Atomicity x, Atomicity y) { return make(p, x, y); });
}

Atomicity Conditionals::synchronised(LockId l, LockId m, Atomicity a) {
  const Predicate held = {.kind = Predicate::Kind::kHeld, .lock = l};
  const Predicate protector = {.kind = Predicate::Kind::kHeld, .lock = m};
  const Predicate unprotected = {.kind = Predicate::Kind::kIsNone, .lock = m};
  std::unordered_map<Atomicity, Atomicity> done;
  for (std::size_t i = 0; i < kBasics; ++i) {
    const auto body = static_cast<Basic>(i);
    const Basic taken = infer::sequence(Basic::kRight, infer::sequence(body, Basic::kLeft));
    done[constant(body)] = choice(unprotected, choice(held, constant(body), constant(taken)),
                                  choice(protector, constant(body), constant(Basic::kError)));
  }
  return rebuild(assume(a, held, true), done,
                 [&](Predicate p, Atomicity x, Atomicity y) { return choice(p, x, y); });
}

Atomicity Conditionals::well_formed(Atomicity a,
                                    const std::function<bool(LockId)>& is_well_formed) {
  std::unordered_map<Atomicity, Atomicity> done;
  return rebuild(a, done, [&](Predicate p, Atomicity x, Atomicity y) {
    return is_well_formed(p.lock) ? choice(p, x, y) : join(x, y);
  });
}

Atomicity Conditionals::best(Atomicity a, const std::function<bool(LockId)>& picked) {
  std::unordered_map<Atomicity, Atomicity> done;
  return rebuild(a, done, [&](Predicate p, Atomicity x, Atomicity y) {
    return picked(p.lock) ? meet(x, y) : choice(p, x, y);
  });
}

Atomicity Conditionals::inverse(Atomicity a, const Substitution& theta,
                                const std::vector<std::string>& own) {
  const auto ghost = [&](const std::string& x) { return locks_.ghost(x); };
  std::unordered_map<Atomicity, Atomicity> done;
  Atomicity result = rebuild(a, done, [&](Predicate p, Atomicity x, Atomicity y) {
    const Lock& lock = locks_[p.lock];
    const bool only_derived =
        lock.kind == Lock::Kind::kGhost && std::ranges::find(own, lock.name) != own.end();
    std::vector<LockId> images;
    if (!only_derived) images.push_back(p.lock);
    for (const auto& [name, to] : theta.pairs) {
      if (to == p.lock) images.push_back(ghost(name));
    }
    if (images.empty()) return join(x, y);
    Atomicity made = y;
    for (const LockId image : images) made = choice({.kind = p.kind, .lock = image}, x, made);
    return made;
  });
  const Atomicity nothing = constant(Basic::kConst);
  for (const auto& [name, to] : theta.pairs) {
    if (to == Locks::kAlways) {
      result = choice({.kind = Predicate::Kind::kIsAlways, .lock = ghost(name)}, result, nothing);
    } else if (to == Locks::kNone) {
      result = choice({.kind = Predicate::Kind::kIsNone, .lock = ghost(name)}, result, nothing);
    }
  }
  return result;
}

Basic Conditionals::evaluate(Atomicity a, const std::function<bool(Predicate)>& holds) const {
  while (!is_basic(a)) a = holds(node(a).predicate) ? node(a).then : node(a).otherwise;
  return static_cast<Basic>(a);
}

std::string Conditionals::text(Atomicity a, bool nested) const {
  if (is_basic(a)) return std::string(core::to_string(static_cast<Basic>(a)));
  const Node& at = node(a);
  const std::string made = core::to_text(locks_, at.predicate) + "?" + text(at.then, true) + ":" +
                           text(at.otherwise, true);
  return nested ? "(" + made + ")" : made;
}

std::string Conditionals::to_text(Atomicity a) const { return text(a, false); }

}  // namespace tomos::infer
