#include "campaign/names.h"

#include <algorithm>
#include <string_view>

#include "symbols/places.h"

namespace tomos::campaign {

namespace {

// Each module has a range of its own, larger than any file.
constexpr unsigned kModuleBits = 40;
constexpr PlaceId base_of(PlaceId place) { return place >> kModuleBits << kModuleBits; }

}  // namespace

PlaceId TrialModules::place(std::uint64_t address) const {
  const auto module = std::ranges::find_if(
      modules_, [&](const Module& one) { return address >= one.first && address < one.end; });
  return module == modules_.end() ? 0 : module->base + (address - module->bias);
}

std::vector<PlaceId> TrialModules::stack(const schedule::Place& place) const {
  std::vector<PlaceId> stack;
  for (const std::uint64_t pc : place.frames) {
    if (pc == 0) break;
    if (const PlaceId id = this->place(pc); id != 0) stack.push_back(id);
  }
  return stack;
}

TrialModules Names::modules(std::span<const schedule::Module> modules) {
  TrialModules result;
  for (const schedule::Module& module : modules) {
    // What the runtime does in between is nobody's business.
    if (std::string_view(module.path).ends_with("/libtomos_rt.so")) continue;
    if (module.bias > module.first || module.end <= module.first ||
        module.end - module.bias >= PlaceId{1} << kModuleBits) {
      continue;
    }
    const PlaceId next = (bases_.size() + 1) << kModuleBits;
    const auto [known, is_new] = bases_.try_emplace(module.path, next);
    const PlaceId base = known->second;
    if (is_new) {
      symbols_.add_module(module.path, base, base + (module.first - module.bias),
                          base + (module.end - module.bias));
    }
    if (program_ == 0) program_ = base;
    result.modules_.push_back(
        {.bias = module.bias, .first = module.first, .end = module.end, .base = base});
  }
  return result;
}

std::span<const PlaceId> Names::without_library(std::span<const PlaceId> stack) {
  const auto users = std::ranges::find_if(
      stack, [&](PlaceId pc) { return users_frame(symbols_.frames(pc)) != nullptr; });
  if (users != stack.end()) return {users, stack.end()};
  // Without debugging information nothing is known to be the user's.
  const auto own = std::ranges::find(stack, program_, base_of);
  return own == stack.end() ? stack : std::span(own, stack.end());
}

Location Names::location(std::span<const PlaceId> stack) {
  return parse_location(users_place(symbols_, without_library(stack)));
}

std::string Names::function(std::span<const PlaceId> stack) {
  const std::span<const PlaceId> rest = without_library(stack);
  if (rest.empty()) return "";
  const std::vector<Frame>& frames = symbols_.frames(rest.front());
  const Frame* frame = users_frame(frames);
  if (frame == nullptr && !frames.empty()) frame = &frames.back();
  return frame == nullptr ? "" : frame->function;
}

std::vector<std::string> Names::frames(std::span<const PlaceId> stack) {
  return shown_frames(symbols_, stack);
}

bool Names::is_users(PlaceId place) {
  return place != 0 && users_frame(symbols_.frames(place)) != nullptr;
}

std::string Names::outermost_function(PlaceId place) {
  const std::vector<Frame>& frames = symbols_.frames(place);
  return frames.empty() ? "" : frames.back().function;
}

std::vector<PlaceId> Names::common(std::span<const PlaceId> one, std::span<const PlaceId> other) {
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (!is_users(one[i])) continue;
    const std::string function = outermost_function(one[i]);
    const bool both = std::ranges::any_of(
        other, [&](PlaceId place) { return outermost_function(place) == function; });
    if (both) return {one.begin() + static_cast<std::ptrdiff_t>(i), one.end()};
  }
  return {};
}

std::string Names::global(PlaceId place) { return place == 0 ? "" : symbols_.global(place); }

}  // namespace tomos::campaign
