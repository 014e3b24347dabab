// Variables that every transaction treats alike: the elements of an array, say.
//
// The blocks of a transaction are pairs of its accesses, so one that goes through an array has as
// many as the array's size, squared. But if all transactions that touch the elements do so in the
// same way, one element after the other, in one order and without a lock operation in between, then
// what holds for any two of them holds for the first two, and what holds for one of them and
// another variable holds for the first. So two of such a class stand for all.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "monitor/lone_accesses.h"
#include "monitor/transaction_shape.h"

namespace tomos {

// For each variable, whether others stand for it. Only those in `wanted` are looked at: the others
// are taken to be accessed nowhere. `lone` is sorted as LoneAccesses::take() sorts.
using ForEachShape = std::function<void(const std::function<void(const Shape&)>&)>;
std::vector<bool> variables_stood_for(const ForEachShape& for_each_shape,
                                      std::span<const LoneAccesses::Access> lone,
                                      const std::vector<bool>& wanted);

}  // namespace tomos
