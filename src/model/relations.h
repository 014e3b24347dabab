// The logical form: events and formulas of a thread as edges between two locations.
#pragma once

#include <cstdint>

#include "model/ast.h"
#include "model/expressions.h"
#include "model/program.h"

namespace tomos::model {

// The locations stand for being outside of transactions, and inside.
void relate(const Thread& thread, Program& program, Expressions& names, Code& code,
            std::uint16_t outside, std::uint16_t inside);

}  // namespace tomos::model
