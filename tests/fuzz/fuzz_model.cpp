// Any bytes as a Boolean program: nothing may crash, errors say where and what to do, and what can
// be read can be searched.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "model/compile.h"
#include "model/judge.h"
#include "model/run.h"
#include "round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tomos;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto program = model::load(text, "input");
  if (!program) {
    fuzz::require(program.error().where.starts_with("input:") && !program.error().what.empty() &&
                  !program.error().remedy.empty());
    return 0;
  }
  // A single step may have very many outcomes; here only programs are run of which none has.
  if (text.contains("int") || text.contains("state") || std::ranges::count(text, '*') > 4) return 0;
  model::SearchOptions options;
  options.memory = std::uint64_t{1} << 18U;
  options.stop = [rounds = 0]() mutable { return ++rounds > 20; };
  const model::Judged judged = model::judge(*program, options);
  if (judged.result.end != model::SearchResult::End::kFailure) return 0;
  model::finding_of(*program, judged.result, model::run_of(*program, judged.result));
  return 0;
}
