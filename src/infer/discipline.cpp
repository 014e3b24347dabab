#include "infer/discipline.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "infer/maxsat.h"

namespace tomos::infer {

namespace {

// Fields, then requirements, in classes of what is connected.
class Components {
 public:
  explicit Components(const Discipline& discipline)
      : fields_(discipline.fields.size()), parents_(fields_ + discipline.requirements.size()) {
    std::iota(parents_.begin(), parents_.end(), std::size_t{0});
    for (std::size_t i = 0; i < fields_; ++i) {
      for (const auto& option : discipline.fields[i]) {
        for (const auto& need : option.needs) join(i, fields_ + need.required);
      }
    }
    for (std::size_t i = 0; i < discipline.requirements.size(); ++i) {
      const auto& requirement = discipline.requirements[i];
      for (const auto& need : requirement.needs) join(fields_ + i, fields_ + need.required);
      for (const std::size_t other : requirement.entail) join(fields_ + i, fields_ + other);
      for (const std::size_t other : requirement.support) join(fields_ + i, fields_ + other);
    }
  }

  struct Component {
    std::vector<std::size_t> fields;
    std::vector<std::size_t> requirements;
  };
  std::vector<Component> all() {
    std::vector<Component> made;
    std::vector<std::size_t> index(parents_.size(), parents_.size());
    for (std::size_t i = 0; i < parents_.size(); ++i) {
      std::size_t& at = index[root(i)];
      if (at == parents_.size()) {
        at = made.size();
        made.emplace_back();
      }
      if (i < fields_) {
        made[at].fields.push_back(i);
      } else {
        made[at].requirements.push_back(i - fields_);
      }
    }
    return made;
  }

 private:
  std::size_t root(std::size_t i) {
    while (parents_[i] != i) i = parents_[i] = parents_[parents_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) { parents_[root(a)] = root(b); }

  std::size_t fields_;
  std::vector<std::size_t> parents_;
};

class ComponentSolver {
 public:
  // `required` has a literal for each requirement of the discipline; only its own matter.
  ComponentSolver(const Discipline& discipline, const Components::Component& component,
                  std::vector<MaxSat::Literal>& required)
      : discipline_(discipline), component_(component), required_(required) {}

  void run(Choice& into, int conflicts) {
    for (const std::size_t i : component_.requirements) required_[i] = sat_.variable();
    for (const std::size_t i : component_.requirements) requirement(i);
    for (const std::size_t i : component_.fields) field(i);
    const MaxSat::Solution solution = sat_.solve(conflicts);
    into.optimal &= solution.optimal;
    if (!solution.found) return;
    for (const std::size_t i : component_.requirements) {
      into.required[i] = solution[required_[i]];
    }
    for (std::size_t i = 0; i < component_.fields.size(); ++i) {
      const auto chosen = std::ranges::find_if(
          options_[i], [&](MaxSat::Literal option) { return solution[option]; });
      into.options[component_.fields[i]] = static_cast<std::size_t>(chosen - options_[i].begin());
    }
  }

 private:
  void requirement(std::size_t i) {
    const auto& of = discipline_.requirements[i];
    const MaxSat::Literal own = required_[i];
    if (of.is_fixed) sat_.hard({own});
    if (!of.is_possible) sat_.hard({-own});
    if (!of.is_fixed) sat_.soft({-own}, of.cost);
    for (const std::size_t other : of.entail) sat_.hard({-own, required_[other]});
    if (!of.support.empty()) {
      std::vector<MaxSat::Literal> clause = {-own};
      for (const std::size_t other : of.support) clause.push_back(required_[other]);
      sat_.hard(clause);
    }
    needs(own, of.needs);
  }

  void field(std::size_t i) {
    std::vector<MaxSat::Literal> options;
    for (const auto& option : discipline_.fields[i]) {
      const MaxSat::Literal own = sat_.variable();
      for (const MaxSat::Literal other : options) sat_.hard({-own, -other});
      options.push_back(own);
      sat_.soft({-own}, option.cost);
      needs(own, option.needs);
    }
    sat_.hard(options);
    options_.push_back(std::move(options));
  }

  void needs(MaxSat::Literal own, const std::vector<Discipline::Need>& all) {
    for (const auto& need : all) sat_.soft({-own, required_[need.required]}, need.penalty);
  }

  const Discipline& discipline_;
  const Components::Component& component_;
  std::vector<MaxSat::Literal>& required_;
  MaxSat sat_;
  std::vector<std::vector<MaxSat::Literal>> options_;
};

std::int64_t unmet(const std::vector<Discipline::Need>& needs, const Choice& choice) {
  std::int64_t cost = 0;
  for (const auto& need : needs) {
    if (!choice.required[need.required]) cost += need.penalty;
  }
  return cost;
}

}  // namespace

std::optional<std::int64_t> cost_of(const Discipline& discipline, const Choice& choice) {
  std::int64_t cost = 0;
  for (std::size_t i = 0; i < discipline.fields.size(); ++i) {
    const auto& option = discipline.fields[i][choice.options[i]];
    cost += option.cost + unmet(option.needs, choice);
  }
  for (std::size_t i = 0; i < discipline.requirements.size(); ++i) {
    const auto& of = discipline.requirements[i];
    if (!choice.required[i]) {
      if (of.is_fixed) return std::nullopt;
      continue;
    }
    const auto is_required = [&](std::size_t other) { return choice.required[other]; };
    const bool supported = of.support.empty() || std::ranges::any_of(of.support, is_required);
    if (!of.is_possible || !supported || !std::ranges::all_of(of.entail, is_required)) {
      return std::nullopt;
    }
    cost += (of.is_fixed ? 0 : of.cost) + unmet(of.needs, choice);
  }
  return cost;
}

std::vector<bool> asked_for(const Discipline& discipline, const Choice& choice,
                            const std::vector<std::size_t>& fields) {
  std::vector<bool> asked(discipline.requirements.size());
  std::vector<std::size_t> open;
  const auto ask = [&](std::size_t index) {
    if (!choice.required[index] || asked[index]) return;
    asked[index] = true;
    open.push_back(index);
  };
  const auto ask_all = [&](const std::vector<Discipline::Need>& needs) {
    for (const Discipline::Need& need : needs) ask(need.required);
  };
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (discipline.requirements[i].is_fixed) ask(i);
  }
  for (const std::size_t field : fields) {
    ask_all(discipline.fields[field][choice.options[field]].needs);
  }
  while (!open.empty()) {
    const Discipline::Requirement& next = discipline.requirements[open.back()];
    open.pop_back();
    ask_all(next.needs);
    std::ranges::for_each(next.entail, ask);
    std::ranges::for_each(next.support, ask);
  }
  return asked;
}

Choice solve(const Discipline& discipline, int conflicts) {
  Choice choice;
  choice.options.resize(discipline.fields.size());
  choice.required.resize(discipline.requirements.size());
  std::vector<MaxSat::Literal> literals(discipline.requirements.size());
  for (const auto& component : Components(discipline).all()) {
    // Nobody asks for it.
    const auto is_fixed = [&](std::size_t i) { return discipline.requirements[i].is_fixed; };
    if (component.fields.empty() && std::ranges::none_of(component.requirements, is_fixed)) {
      continue;
    }
    // Nothing depends on it: the cheapest.
    if (component.requirements.empty()) {
      for (const std::size_t i : component.fields) {
        const auto& options = discipline.fields[i];
        choice.options[i] = static_cast<std::size_t>(
            std::ranges::min_element(options, {}, &Discipline::Option::cost) - options.begin());
      }
      continue;
    }
    ComponentSolver(discipline, component, literals).run(choice, conflicts);
  }
  // What costs nothing the solver may have chosen for nothing.
  std::vector<std::size_t> all(discipline.fields.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  choice.required = asked_for(discipline, choice, all);
  choice.cost = cost_of(discipline, choice).value_or(-1);
  return choice;
}

}  // namespace tomos::infer
