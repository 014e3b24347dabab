// Reads a trace and does nothing with it: what a reader costs without any monitor.
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>

#include "trace/open.h"

namespace {

int fail(const tomos::Error& error) {
  fmt::print(stderr, "read_only: {}: {}. {}\n", error.where, error.what, error.remedy);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: read_only TRACE\n");
    return 2;
  }
  auto source = tomos::open_trace(argv[1]);
  if (!source) return fail(source.error());
  tomos::Batch batch;
  std::uint64_t events = 0;
  for (;;) {
    if (const auto read = (*source)->next(batch); !read) return fail(read.error());
    if (batch.events.empty()) break;
    events += batch.events.size();
  }
  fmt::print("{}\n", events);
  return 0;
}
