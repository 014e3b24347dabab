#include "judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "trace/open.h"
#include "trace/std_text.h"
#include "trace/validate.h"

namespace tomos::predict {

namespace {

std::string show(std::span<const Event> trace, const Run& run, const Names& names) {
  return to_text(in_order(trace, run), names);
}

std::string describe(const Transaction& transaction, std::span<const Event> trace,
                     const Names& names) {
  const Event& first = trace[transaction.begin];
  return fmt::format("{} at {}", names.name(NameKind::kThread, transaction.thread),
                     names.name(NameKind::kLocation, first.location));
}

}  // namespace

std::string to_text(std::span<const Event> events, const Names& names) {
  std::string text;
  const std::unique_ptr<Writer> writer = write_std(std::make_unique<Output>(text));
  if (!writer->write(events, names) || !writer->finish()) return "(cannot be written)\n";
  return text;
}

std::vector<Event> in_order(std::span<const Event> trace, const Run& run) {
  std::vector<Event> result;
  std::vector<bool> shown(trace.size());
  const auto show = [&](std::size_t i) {
    if (!shown[i]) result.push_back(trace[i]);
    shown[i] = true;
  };
  for (const std::size_t step : run) {
    for (std::size_t i = 0; i < step; ++i) {
      if (trace[i].thread == trace[step].thread) show(i);
    }
    show(step);
  }
  return result;
}

std::string judge(std::span<const Event> trace, const Names& names) {
  const Truth truth(trace);
  const Model& model = truth.model();
  std::string text = fmt::format("{} transactions, {} variables, {} locks\n",
                                 model.transactions.size(), model.variables, model.locks);
  if (!truth.decided) return text + "too big for brute force\n";
  if (truth.deadlock) {
    text += fmt::format(
        "deadlock{}:\n{}", truth.lock_deadlock ? " by locks" : "",
        show(trace, truth.lock_deadlock ? *truth.lock_deadlock : *truth.deadlock, names));
  }
  if (truth.race) {
    text += fmt::format("race of the events at {} and {}\n",
                        names.name(NameKind::kLocation, trace[truth.race->first].location),
                        names.name(NameKind::kLocation, trace[truth.race->second].location));
  }
  if (truth.atomicity.atomic) {
    text += truth.deadlock ? "the complete interleavings are atomic\n" : "atomic\n";
  } else {
    text += "not atomic:\n" + show(trace, truth.atomicity.witness, names);
  }
  for (const auto& [t, u] : truth.cut_pairs) {
    text += fmt::format("not atomic alone: the transactions of {} and of {}\n",
                        describe(model.transactions[t], trace, names),
                        describe(model.transactions[u], trace, names));
  }
  return text;
}

Result<std::string> judge_file(const std::string& path) {
  Result<std::unique_ptr<Source>> source = open_trace(path);
  if (!source) return std::unexpected(source.error());
  Validated valid(std::move(*source), input_name(path), Validation::kStrict);
  std::vector<Event> trace;
  Batch batch;
  do {
    if (Result<void> got = valid.next(batch); !got) return std::unexpected(got.error());
    trace.insert(trace.end(), batch.events.begin(), batch.events.end());
  } while (!batch.events.empty());
  return judge(trace, valid.names());
}

}  // namespace tomos::predict
