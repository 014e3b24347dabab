// STD text traces: one event a line, `thread|operation|location`. docs/trace-format.md has the
// grammar.
#pragma once

#include <memory>

#include "event/error.h"
#include "event/source.h"
#include "trace/input.h"
#include "trace/output.h"
#include "trace/writer.h"

namespace tomos {

std::unique_ptr<Source> read_std(std::unique_ptr<Input> input);
std::unique_ptr<Writer> write_std(std::unique_ptr<Output> output);

}  // namespace tomos
