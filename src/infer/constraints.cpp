#include "infer/constraints.h"

#include <algorithm>
#include <deque>

namespace tomos::infer {

Constraints::Constraints(Classes& classes, Conditionals& conditionals, Locks& locks)
    : classes_(classes),
      conditionals_(conditionals),
      locks_(locks),
      assignment_(classes.method_count(), constant(Basic::kConst)),
      declared_(classes.method_count(), false) {}

NodeId Constraints::add(Node node) {
  const bool open =
      node.kind == Node::Kind::kVariable || std::ranges::any_of(node.children, [&](NodeId child) {
        return is_open_[static_cast<std::size_t>(child)];
      });
  is_open_.push_back(open);
  closed_.emplace_back();
  nodes_.push_back(std::move(node));
  return static_cast<NodeId>(nodes_.size() - 1);
}

void Constraints::declare(MethodId method, Atomicity atomicity) {
  assignment_[static_cast<std::size_t>(method)] = atomicity;
  declared_[static_cast<std::size_t>(method)] = true;
}

Atomicity Constraints::apply(const Node& node, Atomicity child) {
  switch (node.kind) {
    case Node::Kind::kConstant:
      return node.atomicity;
    case Node::Kind::kVariable:
      return assigned(node.method);
    case Node::Kind::kSequence:
    case Node::Kind::kJoin:
      return child;
    case Node::Kind::kIterate:
      return conditionals_.iterate(child);
    case Node::Kind::kSubstitute:
      return conditionals_.substitute(child, node.theta);
    case Node::Kind::kSync:
      return conditionals_.synchronised(node.lock, node.protector, child);
    case Node::Kind::kWellFormed:
      return conditionals_.well_formed(
          child, [&](LockId lock) { return classes_.type_of(node.env, lock) != nullptr; });
    case Node::Kind::kInverse:
      return conditionals_.inverse(child, node.theta, node.hidden);
    case Node::Kind::kAssume:
      for (const auto& [lock, held] : node.facts) {
        child = conditionals_.assume_held(child, lock, held);
      }
      return child;
    case Node::Kind::kUnshared: {
      const LockId self = locks_.variable("this");
      return conditionals_.best(child,
                                [&](LockId lock) { return locks_.root(lock).first == self; });
    }
    case Node::Kind::kTransaction:
      return conditionals_.transaction(child);
  }
  return child;
}

Atomicity Constraints::value(NodeId id) {
  const auto index = static_cast<std::size_t>(id);
  if (const std::optional<Atomicity> known = closed_[index]) return *known;
  const Node& node = nodes_[index];
  Atomicity made = constant(Basic::kConst);
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    const Atomicity child = value(node.children[i]);
    made = i == 0                               ? child
           : node.kind == Node::Kind::kSequence ? conditionals_.sequence(made, child)
                                                : conditionals_.join(made, child);
  }
  made = apply(node, made);
  if (!is_open_[index]) closed_[index] = made;
  return made;
}

void Constraints::variables(NodeId id, std::vector<MethodId>& found) const {
  if (!is_open_[static_cast<std::size_t>(id)]) return;
  const Node& node = (*this)[id];
  if (node.kind == Node::Kind::kVariable) found.push_back(node.method);
  for (const NodeId child : node.children) variables(child, found);
}

void Constraints::solve() {
  std::vector<std::vector<std::size_t>> readers(assignment_.size());
  std::deque<std::size_t> work;
  std::vector<bool> waiting(constraints_.size(), true);
  for (std::size_t i = 0; i < constraints_.size(); ++i) {
    work.push_back(i);
    std::vector<MethodId> found;
    variables(constraints_[i].bound, found);
    std::ranges::sort(found);
    const auto repeated = std::ranges::unique(found);
    found.erase(repeated.begin(), repeated.end());
    for (const MethodId method : found) readers[static_cast<std::size_t>(method)].push_back(i);
  }
  while (!work.empty()) {
    const std::size_t at = work.front();
    work.pop_front();
    waiting[at] = false;
    const MethodId method = constraints_[at].method;
    if (is_declared(method)) continue;
    const Atomicity before = assigned(method);
    const Atomicity after = conditionals_.join(before, value(constraints_[at].bound));
    if (after == before) continue;
    assignment_[static_cast<std::size_t>(method)] = after;
    for (const std::size_t reader : readers[static_cast<std::size_t>(method)]) {
      if (!waiting[reader]) work.push_back(reader);
      waiting[reader] = true;
    }
  }
}

std::string Constraints::variable_name(MethodId method) const {
  if (is_declared(method)) return conditionals_.to_text(assigned(method));
  return "a" + std::to_string(static_cast<std::size_t>(method) + 1);
}

// A sequence inside a sequence in brackets.
std::string Constraints::grouped(NodeId id) const {
  const Node& node = (*this)[id];
  const bool many = node.children.size() > 1 &&
                    (node.kind == Node::Kind::kSequence || node.kind == Node::Kind::kJoin);
  return many ? "(" + to_text(id) + ")" : to_text(id);
}

std::string Constraints::to_text(NodeId id) const {
  const Node& node = (*this)[id];
  const auto child = [&] { return grouped(node.children[0]); };
  switch (node.kind) {
    case Node::Kind::kConstant:
      return conditionals_.to_text(node.atomicity);
    case Node::Kind::kVariable:
      return variable_name(node.method);
    case Node::Kind::kSequence:
    case Node::Kind::kJoin: {
      std::string text;
      for (const NodeId each : node.children) {
        if (!text.empty()) text += node.kind == Node::Kind::kSequence ? ";" : " | ";
        text += grouped(each);
      }
      return text.empty() ? "const" : text;
    }
    case Node::Kind::kIterate:
      return child() + "*";
    case Node::Kind::kSubstitute:
    case Node::Kind::kInverse: {
      std::string pairs;
      for (const auto& [name, lock] : node.theta.pairs) {
        if (!pairs.empty()) pairs += ",";
        pairs += name + ":=" + locks_.to_string(lock);
      }
      if (node.kind == Node::Kind::kSubstitute) return child() + ".[" + pairs + "]";
      return "invsub([" + pairs + "]," + child() + ")";
    }
    case Node::Kind::kSync:
      return "S(" + locks_.to_string(node.lock) + "," + locks_.to_string(node.protector) + "," +
             child() + ")";
    case Node::Kind::kWellFormed:
      return "wfa(P,{" + classes_.to_text(node.env) + "}," + to_text(node.children[0]) + ")";
    case Node::Kind::kAssume: {
      std::string facts;
      for (const auto& [lock, held] : node.facts) {
        if (!facts.empty()) facts += ",";
        facts += (held ? "" : "!") + locks_.to_string(lock);
      }
      return "given({" + facts + "}," + child() + ")";
    }
    case Node::Kind::kUnshared:
      return "unshared(" + child() + ")";
    case Node::Kind::kTransaction:
      return "atomic(" + child() + ")";
  }
  return {};
}

std::string Constraints::to_text(const Constraint& constraint) const {
  return to_text(constraint.bound) + " <= " + variable_name(constraint.method);
}

}  // namespace tomos::infer
