// What the command line and the project file ask for, handed over in the environment.
#include <stdlib.h>

#include "runtime/runtime.h"

namespace tomos::runtime {

Config config = {
    .recording = nullptr, .functions = nullptr, .filter = Filter::kRepeats, .array_cutoff = 256};

namespace {

// Patterns, one a line.
const char* atomic_patterns = nullptr;
const char* ignore_patterns = nullptr;
const char* include_patterns = nullptr;

// '*' stands for any text, '?' for one character.
bool matches(const char* pattern, const char* pattern_end, const char* text) {
  const char* star = nullptr;
  const char* retry = nullptr;
  while (*text != 0) {
    if (pattern < pattern_end && *pattern == '*') {
      star = ++pattern;
      retry = text;
    } else if (pattern < pattern_end && (*pattern == '?' || *pattern == *text)) {
      ++pattern;
      ++text;
    } else if (star != nullptr) {
      pattern = star;
      text = ++retry;
    } else {
      return false;
    }
  }
  while (pattern < pattern_end && *pattern == '*') ++pattern;
  return pattern == pattern_end;
}

bool has_slash(const char* start, const char* end) {
  for (; start < end; ++start) {
    if (*start == '/') return true;
  }
  return false;
}

// A pattern with a slash is about the file, others about the function.
bool any_matches(const char* patterns, const FunctionDescriptor& function) {
  if (patterns == nullptr) return false;
  while (*patterns != 0) {
    const char* end = patterns;
    while (*end != 0 && *end != '\n') ++end;
    const char* text = has_slash(patterns, end) ? function.file : function.name;
    if (end > patterns && text != nullptr && matches(patterns, end, text)) return true;
    patterns = *end == 0 ? end : end + 1;
  }
  return false;
}

const char* get(const char* name) {
  const char* value = getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here sets it
  return value != nullptr && *value != 0 ? value : nullptr;
}

}  // namespace

void read_config() {
  config.recording = get("TOMOS_RECORDING");
  config.functions = get("TOMOS_FUNCTIONS");
  const char* filter = get("TOMOS_FILTER");
  if (filter != nullptr && __builtin_strcmp(filter, "off") == 0) config.filter = Filter::kOff;
  if (filter != nullptr && __builtin_strcmp(filter, "distinct") == 0) {
    config.filter = Filter::kDistinct;
  }
  // The scheduler wants to see accesses one by one.
  const bool streams = get("TOMOS_SCHEDULE") == nullptr &&
                       (config.recording == nullptr || config.filter == Filter::kDistinct);
  __tomos_streams_wanted = streams ? 1 : 0;
  const char* cutoff = get("TOMOS_ARRAY_CUTOFF");
  config.array_cutoff = cutoff == nullptr ? config.array_cutoff : strtoul(cutoff, nullptr, 10);
  atomic_patterns = get("TOMOS_ATOMIC");
  ignore_patterns = get("TOMOS_IGNORE");
  include_patterns = get("TOMOS_INCLUDE");
}

bool is_transaction(const FunctionDescriptor& function) {
  if ((function.flags & kAtomic) != 0 || any_matches(atomic_patterns, function)) return true;
  if ((function.flags & kNotAtomic) != 0 || any_matches(ignore_patterns, function)) return false;
  return (function.flags & kCandidate) != 0 || any_matches(include_patterns, function);
}

}  // namespace tomos::runtime
