#include "valid.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "event/source.h"
#include "trace/validate.h"

namespace tomos::predict {

namespace {

class Memory : public Source {
 public:
  explicit Memory(Trace trace) : trace_(std::move(trace)) {}

  Result<void> next(Batch& batch) override {
    batch = {};
    batch.events = std::exchange(trace_, {});
    return {};
  }
  const Names& names() const override { return oracle::names(); }
  Progress progress() const override { return {}; }

 private:
  Trace trace_;
};

}  // namespace

std::string why_invalid(const Trace& trace, const Truth& truth) {
  Validated validated(std::make_unique<Memory>(trace), "trace", Validation::kStrict);
  Batch batch;
  do {
    if (const Result<void> got = validated.next(batch); !got) {
      return got.error().where + ": " + got.error().what;
    }
  } while (!batch.events.empty());
  if (!truth.interleavings.fits()) return "it is too big";
  std::vector<std::size_t> observed;
  for (const std::vector<Step>& steps : truth.model().threads) {
    for (const Step& step : steps) observed.push_back(step.event);
  }
  std::ranges::sort(observed);
  return truth.interleavings.in_this_order(observed) ? ""
                                                     : "it is no interleaving of its own events";
}

}  // namespace tomos::predict
