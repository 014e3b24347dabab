#include "trace/open.h"

#include <expected>
#include <string_view>
#include <utility>

#include "trace/input.h"
#include "trace/std_text.h"
#include "trace/tomos_format.h"
#include "trace/writer.h"

namespace tomos {

Result<std::unique_ptr<Source>> open_trace(const std::string& path) {
  Result<std::unique_ptr<Input>> input = Input::open(path);
  if (!input) return std::unexpected(std::move(input.error()));
  // The magic's first half decides: what happened to the second half is the binary reader's to say.
  const std::string_view mark = kTomosMagic.substr(0, kTomosMagic.size() / 2);
  if (Result<bool> any = (*input)->fill(mark.size()); !any) {
    return std::unexpected(std::move(any.error()));
  }
  const std::string_view start = (*input)->view().substr(0, mark.size());
  // An empty file is a text trace without events, unless its name says that it should have been a
  // binary one.
  const bool binary = start.empty() ? path.ends_with(".tomos") : mark.starts_with(start);
  return binary ? read_tomos(std::move(*input)) : read_std(std::move(*input));
}

Result<std::unique_ptr<Writer>> create_trace(const std::string& path, Format format) {
  Result<std::unique_ptr<Output>> output = Output::create(path);
  if (!output) return std::unexpected(std::move(output.error()));
  switch (format) {
    case Format::kStd:
      return write_std(std::move(*output));
    case Format::kTomos:
      break;
  }
  return write_tomos(std::move(*output));
}

}  // namespace tomos
