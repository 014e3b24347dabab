// Writes a benchmark trace. shapes.h lists the shapes, workload.h tells how a trace is made; the
// same arguments always give the same trace.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "event/names.h"
#include "shapes.h"
#include "trace/writer.h"
#include "workload.h"

namespace tomos::bench {
namespace {

constexpr std::size_t kBatch = 1U << 16U;

// Gives objects their ids in the order of their first use, as a reader of the text does, and names
// only those in use.
class Naming {
 public:
  explicit Naming(const Shape& shape)
      : kinds_{Kind{NameKind::kThread, 'T', std::vector<std::uint32_t>(shape.threads, kUnused)},
               Kind{NameKind::kVariable, 'V', std::vector<std::uint32_t>(shape.variables, kUnused)},
               Kind{NameKind::kLock, 'L', std::vector<std::uint32_t>(shape.locks, kUnused)}} {}

  void apply(Event& event) {
    event.thread = id(kinds_[0], event.thread);
    const NameKind kind = object_kind(event.op);
    if (kind == NameKind::kVariable) event.object = id(kinds_[1], event.object);
    if (kind == NameKind::kLock) event.object = id(kinds_[2], event.object);
  }
  const Names& names() const { return names_; }

 private:
  static constexpr std::uint32_t kUnused = 0xffff'ffff;
  struct Kind {
    NameKind kind;
    char letter;
    std::vector<std::uint32_t> ids;
  };

  std::uint32_t id(Kind& kind, std::uint32_t number) {
    std::uint32_t& id = kind.ids[number];
    if (id == kUnused) id = names_.add(kind.kind, fmt::format("{}{}", kind.letter, number));
    return id;
  }

  Names names_;
  std::array<Kind, 3> kinds_;
};

Result<void> generate(const Shape& shape, const WorkloadOptions& options, const std::string& path,
                      Format format) {
  auto writer = create_trace(path, format);
  if (!writer) return std::unexpected(writer.error());
  Workload workload(shape, options);
  Naming naming(shape);
  std::vector<Event> events;
  for (;;) {
    workload.next(events, kBatch);
    if (events.empty()) return (*writer)->finish();
    for (Event& event : events) naming.apply(event);
    if (auto written = (*writer)->write(events, naming.names()); !written) return written;
  }
}

int run(int argc, char** argv) {
  std::map<std::string, Shape> shapes;
  std::string list;
  for (const Shape& shape : kShapes) {
    shapes.emplace(std::string(1, shape.name), shape);
    list += fmt::format("  {}  {}: {} threads, {} variables, {} locks\n", shape.name, shape.says,
                        shape.threads, shape.variables, shape.locks);
  }
  const std::map<std::string, Flavour> flavours{{"serial", Flavour::kSerial},
                                                {"racy", Flavour::kRacy}};
  const std::map<std::string, Format> formats{{"std", Format::kStd}, {"tomos", Format::kTomos}};

  std::string shape = "H";
  double events = 1e6;
  WorkloadOptions options;
  Format format = Format::kStd;
  std::string path = "-";
  CLI::App app("Writes a benchmark trace.", "generate");
  app.footer(
      "Shapes:\n" + list +
      "\nExample: generate --shape H --events 1e8 --flavour serial --format tomos -o h.tomos");
  app.add_option("--shape", shape, "Which shape")
      ->check(CLI::IsMember(shapes))
      ->capture_default_str();
  app.add_option("--events", events, "How many events")
      ->check(CLI::Range(1.0, 2e9))
      ->capture_default_str();
  app.add_option("--flavour", options.flavour, "serial (no violation) or racy (many)")
      ->transform(CLI::CheckedTransformer(flavours));
  app.add_option("--seed", options.seed, "Which of the traces of this shape")
      ->capture_default_str();
  app.add_option("--format", format, "std (text) or tomos (binary)")
      ->transform(CLI::CheckedTransformer(formats));
  app.add_flag("--unique-locations", options.unique_locations,
               "Give every event a location of its own, instead of about 5,000");
  app.add_option("-o", path, "The file to write, - for standard output")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  options.events = static_cast<std::uint64_t>(std::llround(events));

  if (const auto done = generate(shapes.at(shape), options, path, format); !done) {
    fmt::print(stderr, "generate: {}: {}. {}\n", done.error().where, done.error().what,
               done.error().remedy);
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace tomos::bench

int main(int argc, char** argv) { return tomos::bench::run(argc, argv); }
