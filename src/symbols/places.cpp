#include "symbols/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace tomos {

namespace fs = std::filesystem;

std::string shown_path(const std::string& path) {
  static const std::string here = [] {
    std::error_code error;
    std::string folder = fs::current_path(error).string();
    if (!folder.ends_with('/')) folder += '/';
    return error ? std::string() : folder;
  }();
  const std::string plain = fs::path(path).lexically_normal().string();
  const bool below = !here.empty() && here != "/" && plain.starts_with(here);
  return below ? plain.substr(here.size()) : plain;
}

std::string place_of(const Frame& frame) {
  if (frame.file.empty()) return frame.function;
  std::string text = shown_path(frame.file);
  if (frame.line > 0) text += fmt::format(":{}", frame.line);
  if (frame.line > 0 && frame.column > 0) text += fmt::format(":{}", frame.column);
  return text;
}

const Frame* users_frame(const std::vector<Frame>& frames) {
  const auto frame = std::ranges::find(frames, false, &Frame::system);
  return frame == frames.end() ? nullptr : &*frame;
}

std::string users_place(Symbols& symbols, std::span<const std::uint64_t> stack) {
  for (const std::uint64_t pc : stack) {
    if (const Frame* frame = users_frame(symbols.frames(pc))) return place_of(*frame);
  }
  const std::vector<Frame> none;
  const std::vector<Frame>& innermost = stack.empty() ? none : symbols.frames(stack.front());
  return innermost.empty() ? "" : place_of(innermost.back());
}

std::vector<std::string> shown_frames(Symbols& symbols, std::span<const std::uint64_t> stack) {
  std::vector<std::string> result;
  std::string called;        // a frame of the system, of which no caller has been seen yet
  bool users_first = false;  // a frame of the user's has been seen
  for (const std::uint64_t pc : stack) {
    for (const Frame& frame : symbols.frames(pc)) {
      const std::string place = place_of(frame);
      std::string text =
          place == frame.function ? place : fmt::format("{} {}", frame.function, place);
      if (frame.system) {
        called = users_first ? "" : std::move(text);
        continue;
      }
      if (!called.empty()) result.push_back(std::exchange(called, {}));
      users_first = true;
      result.push_back(std::move(text));
    }
  }
  if (!called.empty()) result.push_back(std::move(called));
  return result;
}

}  // namespace tomos
