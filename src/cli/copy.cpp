#include "cli/copy.h"

#include "cli/progress.h"

namespace tomos {

Result<Copied> copy(Source& source, Writer& writer, const std::string& name, bool quiet) {
  ProgressLine progress(name, quiet);
  Copied copied;
  for (Batch batch;;) {
    if (const auto got = source.next(batch); !got) {
      copied.damage = got.error();
      break;
    }
    if (batch.events.empty()) break;
    if (const auto put = writer.write(batch.events, source.names()); !put) {
      return std::unexpected(put.error());
    }
    copied.events += batch.events.size();
    progress.update(copied.events, source.progress());
  }
  if (const auto done = writer.finish(); !done) return std::unexpected(done.error());
  return copied;
}

std::optional<Format> format_of(const std::string& path) {
  if (path.ends_with(".std")) return Format::kStd;
  if (path.ends_with(".tomos")) return Format::kTomos;
  return std::nullopt;
}

}  // namespace tomos
