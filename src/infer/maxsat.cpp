#include "infer/maxsat.h"

#include <algorithm>
#include <cadical.hpp>
#include <utility>

namespace tomos::infer {

namespace {

// The sum, over all questions, of what is assumed in them: a minute's work. A set of classes with
// more to say than that is as good as decided by then.
constexpr std::size_t kMostEffort = 400'000'000;

}  // namespace

MaxSat::MaxSat() : solver_(std::make_unique<CaDiCaL::Solver>()) { solver_->set("quiet", 1); }
MaxSat::~MaxSat() = default;

void MaxSat::hard(const std::vector<Literal>& clause) {
  for (const Literal literal : clause) solver_->add(literal);
  solver_->add(0);
}

void MaxSat::soft(std::vector<Literal> clause, Weight weight) {
  if (weight > 0) softs_.push_back({.clause = std::move(clause), .weight = weight});
}

// A literal that is assumed already weighs as much more.
void MaxSat::assume(Literal literal, Weight weight, std::size_t counter) {
  const auto [at, is_new] = places_.try_emplace({literal, counter}, assumed_.size());
  if (is_new) assumed_.push_back({.literal = literal, .counter = counter});
  assumed_[at->second].weight += weight;
}

// A totalizer: outputs[k] follows from any k + 1 inputs.
std::vector<MaxSat::Literal> MaxSat::count(const std::vector<Literal>& inputs) {
  if (inputs.size() == 1) return inputs;
  const auto middle = inputs.begin() + static_cast<std::ptrdiff_t>(inputs.size() / 2);
  const std::vector<Literal> left = count({inputs.begin(), middle});
  const std::vector<Literal> right = count({middle, inputs.end()});
  std::vector<Literal> outputs(inputs.size());
  for (Literal& output : outputs) output = variable();
  for (std::size_t i = 0; i <= left.size(); ++i) {
    for (std::size_t j = 0; j <= right.size(); ++j) {
      if (i + j == 0) continue;
      std::vector<Literal> clause = {outputs[i + j - 1]};
      if (i > 0) clause.push_back(-left[i - 1]);
      if (j > 0) clause.push_back(-right[j - 1]);
      hard(clause);
    }
  }
  return outputs;
}

void MaxSat::relax(const std::vector<std::size_t>& core, Weight weight) {
  std::vector<Literal> broken;
  for (const std::size_t i : core) {
    const auto [literal, counter, _] = assumed_[i];
    broken.push_back(-literal);
    assumed_[i].weight -= weight;
    if (counter == kNoCounter) continue;
    // One more of the counter's inputs may be true; the one after that not.
    const std::vector<Literal>& outputs = counters_[counter];
    const auto at = std::ranges::find(outputs, -literal) - outputs.begin();
    const auto next = static_cast<std::size_t>(at) + 1;
    if (next < outputs.size()) assume(-outputs[next], weight, counter);
  }
  if (broken.size() == 1) {
    hard(broken);
    return;
  }
  counters_.push_back(count(broken));
  assume(-counters_.back()[1], weight, counters_.size() - 1);
}

void MaxSat::keep_if_better(Solution& best) const {
  Solution now = {.found = true};
  now.values.resize(static_cast<std::size_t>(variables_) + 1);
  for (int i = 1; i <= variables_; ++i) {
    now.values[static_cast<std::size_t>(i)] = solver_->val(i) > 0;
  }
  for (const Soft& soft : softs_) {
    const bool holds =
        std::ranges::any_of(soft.clause, [&](Literal literal) { return now[literal]; });
    if (!holds) now.cost += soft.weight;
  }
  if (!best.found || now.cost < best.cost) best = std::move(now);
}

MaxSat::Solution MaxSat::solve(int conflicts) {
  Weight heaviest = 1;
  for (const Soft& soft : softs_) {
    heaviest = std::max(heaviest, soft.weight);
    Literal holds = soft.clause.size() == 1 ? soft.clause[0] : 0;
    if (holds == 0) {
      holds = variable();
      std::vector<Literal> clause = soft.clause;
      clause.push_back(-holds);
      hard(clause);
    }
    assume(holds, soft.weight, kNoCounter);
  }
  Solution best;
  if (solver_->solve() != 10) return best;
  keep_if_better(best);
  Weight least = heaviest;  // the lightest that counts for now
  Weight bound = 0;         // no assignment costs less
  for (std::size_t effort = 0; effort < kMostEffort;) {
    for (const Assumed& assumed : assumed_) {
      if (assumed.weight > 0 && assumed.weight >= least) solver_->assume(assumed.literal);
    }
    effort += assumed_.size();
    solver_->limit("conflicts", conflicts);
    const int status = solver_->solve();
    if (status == 0) return best;
    if (status == 10) {
      keep_if_better(best);
      if (least == 1 || best.cost == bound) {
        best.optimal = true;
        return best;
      }
      Weight next = 1;  // the heaviest of those left out
      for (const Assumed& assumed : assumed_) {
        if (assumed.weight < least) next = std::max(next, assumed.weight);
      }
      least = next;
      continue;
    }
    std::vector<std::size_t> core;
    Weight weight = 0;
    for (std::size_t i = 0; i < assumed_.size(); ++i) {
      const Assumed& assumed = assumed_[i];
      if (assumed.weight <= 0 || assumed.weight < least || !solver_->failed(assumed.literal)) {
        continue;
      }
      weight = core.empty() ? assumed.weight : std::min(weight, assumed.weight);
      core.push_back(i);
    }
    bound += weight;
    relax(core, weight);
  }
  return best;
}

}  // namespace tomos::infer
