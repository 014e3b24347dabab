// Makes the events of an open recording.
#pragma once

#include <memory>
#include <optional>

#include "trace/recording.h"
#include "trace/recording_file.h"
#include "trace/recording_tables.h"

namespace tomos::recording {

// Everything given must outlive what is made. `damage` comes behind the last event.
std::unique_ptr<RecordedEvents> make_events(const File& file, const Tables& tables,
                                            const std::optional<Error>& damage,
                                            RecordingNames& names, const RecordingOptions& options);

}  // namespace tomos::recording
