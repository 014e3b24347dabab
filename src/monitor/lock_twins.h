// Transactions that differ only in their locks.
//
// A table with a lock for every stripe makes thousands of transactions that do the same to the same
// variables, each under the lock of its own stripe. For a violation it takes one of them and a
// transaction B, and a lock matters only if B has it, too: then it can keep the two apart. So a
// transaction S can be left out if, whatever B is, some twin R of S is kept that ran when S did and
// shares no lock with B that S does not share in the same role. Of several twins whose locks are
// all different, B can share locks with as many as it has locks: a few twins stand for all others,
// but for those B that have many locks, which are looked at one by one.
#pragma once

#include <span>
#include <vector>

#include "monitor/kept_transactions.h"
#include "monitor/transaction_shape.h"

namespace tomos {

// For each transaction, whether its twins stand for it. `others` are further transactions that may
// cut these.
std::vector<bool> twins_stand_for(const KeptTransactions& all, std::span<const Shape> others);

}  // namespace tomos
