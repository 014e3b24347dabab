#include "clang/cache.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>
#include <xxhash.h>

#include <concepts>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <type_traits>
#include <utility>

namespace tomos::cpp {

namespace {

namespace fs = std::filesystem;

// Both directions have one description of the data, below: a stream either puts a value at the end
// of its bytes or takes it from their beginning.
struct Out {
  static constexpr bool kReads = false;
  std::string bytes;

  void raw(void* data, std::size_t size) { bytes.append(static_cast<const char*>(data), size); }
};

struct In {
  static constexpr bool kReads = true;
  std::string_view bytes;
  bool good = true;

  void raw(void* data, std::size_t size) {
    good &= size <= bytes.size();
    if (!good) return;
    std::memcpy(data, bytes.data(), size);
    bytes.remove_prefix(size);
  }
};

template <class Stream, class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
void pass(Stream& stream, T& value) {
  stream.raw(&value, sizeof value);
}

template <class Stream>
void pass(Stream& stream, std::string& text) {
  auto size = static_cast<std::uint32_t>(text.size());
  pass(stream, size);
  if constexpr (Stream::kReads) {
    stream.good &= size <= stream.bytes.size();
    if (!stream.good) return;
    text.resize(size);
  }
  stream.raw(text.data(), size);
}

// The number of elements; a stream that is read holds at least a byte for each.
template <class Stream, class Container>
std::uint32_t pass_size(Stream& stream, const Container& all) {
  auto size = static_cast<std::uint32_t>(all.size());
  pass(stream, size);
  if constexpr (Stream::kReads) {
    stream.good &= size <= stream.bytes.size();
    if (!stream.good) size = 0;
  }
  return size;
}

// Declared before the containers that hold them. The bindings name every member: a new one that is
// not stored does not compile.
template <class Stream>
void pass(Stream& stream, core::Position& of) {
  auto& [file, line, column] = of;
  pass(stream, file);
  pass(stream, line);
  pass(stream, column);
}
template <class Stream>
void pass(Stream& stream, core::Type& of);
template <class Stream>
void pass(Stream& stream, core::Parameter& of);
template <class Stream>
void pass(Stream& stream, core::Field& of);
template <class Stream>
void pass(Stream& stream, core::Method& of);
template <class Stream>
void pass(Stream& stream, core::Class& of);
template <class Stream>
void pass(Stream& stream, core::Term& of);
template <class Stream>
void pass(Stream& stream, core::Expr& of);
template <class Stream>
void pass(Stream& stream, Source& of);
template <class Stream>
void pass(Stream& stream, core::AnnotationMacros& of);

template <class Stream, class T>
void pass(Stream& stream, std::vector<T>& all) {
  const std::uint32_t size = pass_size(stream, all);
  if constexpr (Stream::kReads) all.resize(size);
  for (T& one : all) pass(stream, one);
}

template <class Stream, class T>
void pass(Stream& stream, std::optional<T>& of) {
  bool has = of.has_value();
  pass(stream, has);
  if constexpr (Stream::kReads) {
    if (has) of.emplace();
  }
  if (of) pass(stream, *of);
}

template <class Stream>
void pass(Stream& stream, core::Type& of) {
  auto& [name, locks] = of;
  pass(stream, name);
  pass(stream, locks);
}

template <class Stream>
void pass(Stream& stream, core::Parameter& of) {
  auto& [type, name, display, is_pointer, position] = of;
  pass(stream, type);
  pass(stream, name);
  pass(stream, display);
  pass(stream, is_pointer);
  pass(stream, position);
}

template <class Stream>
void pass(Stream& stream, core::Field& of) {
  auto& [type, name, display, guard, is_given, is_pt_given, is_constant, is_static, is_pointer,
         position, end] = of;
  pass(stream, type);
  pass(stream, name);
  pass(stream, display);
  pass(stream, guard.kind);
  pass(stream, guard.lock);
  pass(stream, is_given);
  pass(stream, is_pt_given);
  pass(stream, is_constant);
  pass(stream, is_static);
  pass(stream, is_pointer);
  pass(stream, position);
  pass(stream, end);
}

template <class Stream>
void pass(Stream& stream, core::Method& of) {
  auto& [kind, atomicity, result, name, display, ghosts, parameters, requires_held, acquires,
         releases, excludes, is_given, is_constant, is_private, is_unknown, no_warn, body, position,
         begin, end] = of;
  pass(stream, kind);
  pass(stream, atomicity);
  pass(stream, result);
  pass(stream, name);
  pass(stream, display);
  pass(stream, ghosts);
  pass(stream, parameters);
  pass(stream, requires_held);
  pass(stream, acquires);
  pass(stream, releases);
  pass(stream, excludes);
  pass(stream, is_given);
  pass(stream, is_constant);
  pass(stream, is_private);
  pass(stream, is_unknown);
  pass(stream, no_warn);
  pass(stream, body);
  pass(stream, position);
  pass(stream, begin);
  pass(stream, end);
}

template <class Stream>
void pass(Stream& stream, core::Class& of) {
  auto& [name, display, ghosts, bases, fields, methods, position] = of;
  pass(stream, name);
  pass(stream, display);
  pass(stream, ghosts);
  pass(stream, bases);
  pass(stream, fields);
  pass(stream, methods);
  pass(stream, position);
}

template <class Stream>
void pass(Stream& stream, core::Term& of) {
  auto& [basic, predicate, then, otherwise] = of;
  pass(stream, basic);
  bool has = predicate.has_value();
  pass(stream, has);
  if (has && !predicate) predicate.emplace();
  if (predicate) {
    pass(stream, predicate->kind);
    pass(stream, predicate->lock);
  }
  pass(stream, then);
  pass(stream, otherwise);
}

template <class Stream>
void pass(Stream& stream, core::Expr& of) {
  auto& [kind, position, end, name, display, children, locks, type, expected, excused] = of;
  pass(stream, kind);
  pass(stream, position);
  pass(stream, end);
  pass(stream, name);
  pass(stream, display);
  pass(stream, children);
  pass(stream, locks);
  pass(stream, type);
  pass(stream, expected);
  pass(stream, excused);
}

template <class Stream>
void pass(Stream& stream, Source& of) {
  auto& [path, content] = of;
  pass(stream, path);
  pass(stream, content);
}

// Locks have numbers in the order in which they were made, and get the same ones again.
template <class Stream>
void pass(Stream& stream, core::Locks& of) {
  std::uint32_t size = pass_size(stream, of);
  for (std::uint32_t i = static_cast<std::uint32_t>(core::Locks().size()); i < size; ++i) {
    core::Lock lock;
    if constexpr (!Stream::kReads) lock = of[static_cast<core::LockId>(i)];
    pass(stream, lock.kind);
    pass(stream, lock.base);
    pass(stream, lock.name);
    if constexpr (Stream::kReads) {
      if (!stream.good || static_cast<std::size_t>(lock.base) >= of.size()) {
        stream.good = false;
        return;
      }
      if (lock.kind == core::Lock::Kind::kField) {
        of.field(lock.base, lock.name);
      } else if (lock.kind == core::Lock::Kind::kGhost) {
        of.ghost(lock.name);
      } else {
        of.variable(lock.name);
      }
    }
  }
}

template <class Stream>
void pass(Stream& stream, std::set<std::string>& all) {
  std::vector<std::string> list(all.begin(), all.end());
  pass(stream, list);
  if constexpr (Stream::kReads) all.insert(list.begin(), list.end());
}

template <class Stream>
void pass(Stream& stream, std::map<std::string, std::string>& all) {
  std::vector<std::string> keys;
  std::vector<std::string> values;
  for (const auto& [key, value] : all) {
    keys.push_back(key);
    values.push_back(value);
  }
  pass(stream, keys);
  pass(stream, values);
  if constexpr (Stream::kReads) {
    stream.good &= keys.size() == values.size();
    for (std::size_t i = 0; stream.good && i < keys.size(); ++i) all[keys[i]] = values[i];
  }
}

template <class Stream>
void pass(Stream& stream, core::AnnotationMacros& of) {
  auto& [header, spelling, names, visible_in] = of;
  pass(stream, header);
  pass(stream, spelling);
  pass(stream, names);
  pass(stream, visible_in);
}

template <class Stream>
void pass(Stream& stream, Summary& of) {
  auto& [program, lock_classes, unknown_calls, macros] = of;
  auto& [files, locks, terms, exprs, classes, globals, functions, main] = program;
  pass(stream, files);
  pass(stream, locks);
  pass(stream, terms);
  pass(stream, exprs);
  pass(stream, classes);
  pass(stream, globals);
  pass(stream, functions);
  pass(stream, main);
  pass(stream, lock_classes);
  pass(stream, unknown_calls);
  pass(stream, macros);
}

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

// The file: a checksum of all that follows, the command, the sources, the summary.
std::optional<Summary> Cache::find(const std::string& made_by) {
  if (folder_.empty()) return std::nullopt;
  const auto bytes = text_of(file_of(made_by));
  if (!bytes || bytes->size() < sizeof(std::uint64_t)) return std::nullopt;
  In stream = {.bytes = *bytes};
  std::uint64_t checksum = 0;
  pass(stream, checksum);
  if (checksum != content_of(stream.bytes)) return std::nullopt;
  std::string command;
  std::vector<Source> sources;
  pass(stream, command);
  pass(stream, sources);
  if (!stream.good || command != made_by) return std::nullopt;
  for (const Source& source : sources) {
    if (!is_unchanged(source)) return std::nullopt;
  }
  Summary summary;
  pass(stream, summary);
  if (!stream.good) return std::nullopt;
  return summary;
}

void Cache::keep(const std::string& made_by, Summary& summary, std::vector<Source>& sources) const {
  if (folder_.empty()) return;
  Out stream;
  std::string command = made_by;
  pass(stream, command);
  pass(stream, sources);
  pass(stream, summary);
  std::uint64_t checksum = content_of(stream.bytes);
  Out head;
  pass(head, checksum);
  std::error_code error;
  fs::create_directories(folder_, error);
  // Others may read and write the same: they see all of it or nothing.
  const std::string path = file_of(made_by);
  const std::string partial = fmt::format("{}.{}", path, ::getpid());
  {
    std::ofstream file(partial, std::ios::binary);
    file << head.bytes << stream.bytes;
    file.close();
    if (!file) {
      fs::remove(partial, error);
      return;
    }
  }
  fs::rename(partial, path, error);
}

}  // namespace tomos::cpp
