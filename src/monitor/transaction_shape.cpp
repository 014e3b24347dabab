#include "monitor/transaction_shape.h"

#include "monitor/interned.h"

namespace tomos {

bool operator==(const Shape& a, const Shape& b) {
  return a.label == b.label && a.begin == b.begin && a.outer == b.outer && a.steps == b.steps;
}

std::uint64_t hash_of(const Shape& shape) {
  std::uint64_t h = mix(mix(1, pair(shape.label, shape.begin)), shape.outer);
  for (const Step& step : shape.steps) {
    h = mix(h + static_cast<std::uint64_t>(step.op), pair(step.object, step.location));
  }
  return h;
}

HeldAcross::HeldAcross(const Shape& shape, Locksets& locksets)
    : shape_(&shape), locksets_(&locksets), changes_(shape.steps.size()) {
  const std::size_t size = shape.steps.size();
  for (std::size_t i = size; i-- > 0;) {
    const bool same = i + 1 < size && shape.steps[i + 1].held == shape.steps[i].held;
    changes_[i] = same ? changes_[i + 1] : static_cast<std::uint32_t>(i + 1);
  }
}

LocksetId HeldAcross::operator()(std::size_t from, std::size_t to) const {
  LocksetId held = shape_->steps[from].held;
  for (std::size_t i = changes_[from]; i <= to && held != 0; i = changes_[i]) {
    held = locksets_->common(held, shape_->steps[i].held);
  }
  return held;
}

}  // namespace tomos
