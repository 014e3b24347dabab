#include "summary/cache.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>
#include <xxhash.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "summary/stored.h"

namespace tomos::cpp {

namespace {

namespace fs = std::filesystem;

std::optional<std::string> text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) return std::nullopt;
  return std::move(text).str();
}

}  // namespace

std::uint64_t content_of(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

Cache::Cache(std::string folder) : folder_(std::move(folder)) {
  if (folder_.empty()) return;
  // Another build of this code may see other things in the same source.
  Dl_info own = {};
  std::error_code error;
  const fs::path self =
      ::dladdr(reinterpret_cast<void*>(&content_of), &own) != 0 ? own.dli_fname : "";
  const auto time = fs::last_write_time(self, error).time_since_epoch().count();
  const std::string name = fmt::format("{} {}", self.string(), time);
  tool_ = content_of(name);
  if (error) folder_.clear();
}

std::string Cache::file_of(const std::string& made_by) const {
  return fmt::format("{}/{:016x}", folder_,
                     XXH3_64bits_withSeed(made_by.data(), made_by.size(), tool_));
}

bool Cache::is_unchanged(const Source& source) {
  {
    const std::scoped_lock lock(mutex_);
    const auto known = contents_.find(source.path);
    if (known != contents_.end()) return known->second == source.content;
  }
  const auto text = text_of(source.path);
  const std::uint64_t content = text ? content_of(*text) : 0;
  const std::scoped_lock lock(mutex_);
  contents_.emplace(source.path, content);
  return text && content == source.content;
}

// The file: a checksum of what follows, and that. A file that is damaged is as good as none.
std::optional<Summary> Cache::find(const std::string& made_by) {
  if (folder_.empty()) return std::nullopt;
  const auto bytes = text_of(file_of(made_by));
  if (!bytes || bytes->size() < sizeof(std::uint64_t)) return std::nullopt;
  std::uint64_t checksum = 0;
  std::memcpy(&checksum, bytes->data(), sizeof checksum);
  const std::string_view data = std::string_view(*bytes).substr(sizeof checksum);
  if (checksum != content_of(data)) return std::nullopt;
  auto stored = unpack(data);
  if (!stored || stored->made_by != made_by) return std::nullopt;
  for (const Source& source : stored->sources) {
    if (!is_unchanged(source)) return std::nullopt;
  }
  return std::move(stored->summary);
}

void Cache::keep(const std::string& made_by, const Summary& summary,
                 const std::vector<Source>& sources) const {
  if (folder_.empty()) return;
  const std::string data = pack({.made_by = made_by, .sources = sources, .summary = summary});
  const std::uint64_t checksum = content_of(data);
  std::error_code error;
  fs::create_directories(folder_, error);
  // Others may read and write the same: they see all of it or nothing.
  const std::string path = file_of(made_by);
  const std::string partial = fmt::format("{}.{}", path, ::getpid());
  {
    std::ofstream file(partial, std::ios::binary);
    file.write(reinterpret_cast<const char*>(&checksum), sizeof checksum);
    file << data;
    file.close();
    if (!file) {
      fs::remove(partial, error);
      return;
    }
  }
  fs::rename(partial, path, error);
}

}  // namespace tomos::cpp
