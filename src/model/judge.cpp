#include "model/judge.h"

#include <utility>

namespace tomos::model {

// Reduction keeps one run of each kind, not the shortest one: it finds that something goes wrong,
// and in how many steps at most. A second search without it looks for fewer, for as long as that is
// in proportion to the first.
Judged judge(const Program& program, const SearchOptions& options) {
  Judged judged{.result = search(program, options)};
  using End = SearchResult::End;
  if (judged.result.end != End::kFailure) return judged;
  judged.shortest = !options.machine.partial_order;
  if (judged.shortest) return judged;

  SearchOptions again = options;
  again.machine.partial_order = false;
  again.deepest = judged.result.run.size();
  std::uint64_t states = 0;
  const std::uint64_t enough = 10 * judged.result.states + 1'000'000;
  again.progress = [&](const SearchOptions::Progress& now) { states = now.states; };
  again.stop = [&] { return states > enough || (options.stop && options.stop()); };
  SearchResult shorter = search(program, again);
  judged.shortest = shorter.end == End::kFailure || shorter.end == End::kDeepest;
  if (shorter.end == End::kFailure) {
    judged.result.failure = shorter.failure;
    judged.result.run = std::move(shorter.run);
    judged.result.places = std::move(shorter.places);
    judged.result.owners = std::move(shorter.owners);
  }
  return judged;
}

}  // namespace tomos::model
