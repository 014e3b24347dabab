// A source file with annotations put into it, and the way back: which place of the old text, or
// which annotation, a place of the new one is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tomos::annotate {

// Of something that stands in no annotation.
inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

struct Insertion {
  std::size_t offset = 0;  // in the old text
  std::string text;
  std::size_t annotation = kNone;
};

class Source {
 public:
  Source(std::string path, std::string text);

  const std::string& path() const { return path_; }
  const std::string& text() const { return text_; }

  // Lines and columns begin at 1. Nothing if there is no such place.
  std::optional<std::size_t> offset(std::uint32_t line, std::uint32_t column) const;
  std::uint32_t line(std::size_t offset) const;

  // Where an attribute of a function stands whose parameters end there: behind const, noexcept,
  // override and the like.
  std::size_t behind_qualifiers(std::size_t offset) const;
  // Where an #include is put that comes before the offset, and the whole line.
  Insertion include(const std::string& spelling, std::size_t before) const;

 private:
  std::string path_;
  std::string text_;
  std::vector<std::size_t> lines_;
};

// The insertions are in the order of their offsets.
class Edited {
 public:
  Edited(const Source& source, std::vector<Insertion> insertions);

  const std::string& text() const { return text_; }
  const std::vector<Insertion>& insertions() const { return insertions_; }

  struct Origin {
    std::size_t offset = 0;
    std::size_t annotation = kNone;  // the place is in its text
  };
  std::optional<Origin> origin(std::uint32_t line, std::uint32_t column) const;

  // A unified diff with three lines of context; empty if nothing is inserted.
  std::string patch() const;

 private:
  const Source* source_;
  std::vector<Insertion> insertions_;
  std::string text_;
};

}  // namespace tomos::annotate
