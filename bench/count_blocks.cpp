// Says how much there is to compare in a trace: distinct transactions, accesses and blocks.
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>

#include "event/names.h"
#include "monitor/block_store.h"
#include "trace/open.h"

namespace {

int fail(const tomos::Error& error) {
  fmt::print(stderr, "count_blocks: {}: {}. {}\n", error.where, error.what, error.remedy);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: count_blocks TRACE\n");
    return 2;
  }
  auto source = tomos::open_trace(argv[1]);
  if (!source) return fail(source.error());
  tomos::BlockStore store({}, tomos::BlockScope::kTwoTransactions, {});
  tomos::Batch batch;
  for (;;) {
    if (const auto read = (*source)->next(batch); !read) return fail(read.error());
    if (batch.events.empty()) break;
    store.on_events(batch.events);
  }
  store.finish();
  fmt::print(R"({{"transactions": {}, "accesses": {}, "blocks": {}, "periods": {}}})"
             "\n",
             store.shapes(), store.accesses().size(), store.blocks().size(),
             store.context().periods().size());
  return 0;
}
