// Writes a benchmark trace for prediction (predict_workload.h). The same arguments always give the
// same trace.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "predict_workload.h"
#include "trace/writer.h"

namespace tomos::bench {
namespace {

constexpr std::size_t kBatch = 1U << 16U;

Result<void> generate(PredictWorkload workload, const std::string& path, Format format) {
  auto writer = create_trace(path, format);
  if (!writer) return std::unexpected(writer.error());
  std::vector<Event> events;
  for (;;) {
    workload.next(events, kBatch);
    if (events.empty()) return (*writer)->finish();
    if (auto written = (*writer)->write(events, workload.names()); !written) return written;
  }
}

int run(int argc, char** argv) {
  const std::map<std::string, Variant> variants{
      {"loops", Variant::kLoops}, {"mixes", Variant::kMixes}, {"periods", Variant::kPeriods}};
  const std::map<std::string, Format> formats{{"std", Format::kStd}, {"tomos", Format::kTomos}};
  Variant variant = Variant::kLoops;
  double events = 1e6;
  std::uint64_t seed = 1;
  Format format = Format::kTomos;
  std::string path = "-";
  CLI::App app("Writes a benchmark trace for prediction.", "generate_predict");
  app.footer("Example: generate_predict --variant mixes --events 14e6 -o mixes.tomos");
  app.add_option("--variant", variant,
                 "loops (transactions repeat), mixes (hardly ever), periods (a barrier loop)")
      ->transform(CLI::CheckedTransformer(variants));
  app.add_option("--events", events, "How many events")
      ->check(CLI::Range(static_cast<double>(PredictWorkload::kLeast), 2e9))
      ->capture_default_str();
  app.add_option("--seed", seed, "Which of the traces of this variant")->capture_default_str();
  app.add_option("--format", format, "std (text) or tomos (binary)")
      ->transform(CLI::CheckedTransformer(formats));
  app.add_option("-o", path, "The file to write, - for standard output")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  const auto count = static_cast<std::uint64_t>(std::llround(events));
  if (const auto done = generate(PredictWorkload(variant, count, seed), path, format); !done) {
    fmt::print(stderr, "generate_predict: {}: {}. {}\n", done.error().where, done.error().what,
               done.error().remedy);
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace tomos::bench

int main(int argc, char** argv) { return tomos::bench::run(argc, argv); }
