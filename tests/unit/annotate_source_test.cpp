// Texts with insertions against the naive way: from the last to the first. Patches against somebody
// who applies them line by line and believes nothing.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "annotate/source.h"

namespace tomos::annotate {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t newline = text.find('\n', at);
    const std::size_t end = newline == std::string::npos ? text.size() : newline + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  return lines;
}

// Empty: it does not apply.
std::string apply_patch(const std::string& old, const std::string& patch) {
  const std::vector<std::string> before = lines_of(old);
  std::vector<std::string> words = lines_of(patch);
  std::string made;
  std::size_t at = 0;
  std::size_t made_lines = 0;
  for (std::size_t i = 2; i < words.size();) {
    std::size_t from = 0;
    std::size_t count = 0;
    std::size_t to = 0;
    std::size_t new_count = 0;
    char comma = 0;
    std::istringstream header(words[i++].substr(4));
    header >> from >> comma >> count;
    header.ignore(2, '+');
    header >> to >> comma >> new_count;
    while (at + 1 < from) {
      made += before.at(at++);
      ++made_lines;
    }
    if (made_lines + 1 != to) return "the new lines are counted wrongly";
    for (; i < words.size() && !words[i].starts_with("@@"); ++i) {
      std::string line = words[i].substr(1);
      if (words[i][0] == '\\') continue;
      const bool is_last = i + 1 < words.size() && words[i + 1][0] == '\\';
      if (is_last) line.pop_back();
      if (words[i][0] != '+') {
        if (at >= before.size() || before[at] != line) return "does not fit: " + words[i];
        ++at;
        --count;
      }
      if (words[i][0] != '-') {
        made += line;
        ++made_lines;
        --new_count;
      }
    }
    if (count != 0 || new_count != 0) return "lines are counted wrongly";
  }
  while (at < before.size()) made += before[at++];
  return made;
}

TEST(AnnotateSource, PatchesAndOriginsAgainstTheNaiveWay) {
  std::mt19937 random(7);
  const auto below = [&](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
  };
  for (int round = 0; round < 2000; ++round) {
    std::string old;
    const std::size_t lines = 1 + below(40);
    for (std::size_t i = 0; i < lines; ++i) {
      old += std::string(below(4), static_cast<char>('a' + below(3)));
      if (i + 1 < lines || below(4) != 0) old += '\n';
    }
    if (old.empty()) continue;
    const Source source("a.cpp", old);
    std::multimap<std::size_t, Insertion> ordered;
    for (std::size_t i = below(6); i > 0; --i) {
      std::size_t offset = below(old.size());
      std::string text(1 + below(3), 'X');
      if (below(4) == 0) {
        offset = offset == 0 ? 0 : old.rfind('\n', offset - 1) + 1;
        text += '\n';
      }
      ordered.emplace(offset, Insertion{.offset = offset, .text = text, .annotation = i});
    }
    std::vector<Insertion> insertions;
    for (const auto& [offset, made] : ordered) insertions.push_back(made);
    std::string wanted = old;
    std::vector<std::size_t> origins(old.size());
    for (std::size_t i = 0; i < old.size(); ++i) origins[i] = i;
    for (std::size_t i = insertions.size(); i-- > 0;) {
      wanted.insert(insertions[i].offset, insertions[i].text);
      origins.insert(origins.begin() + static_cast<std::ptrdiff_t>(insertions[i].offset),
                     insertions[i].text.size(), kNone);
    }
    const Edited edited(source, insertions);
    ASSERT_EQ(edited.text(), wanted) << "round " << round;
    if (!insertions.empty()) {
      ASSERT_EQ(apply_patch(old, edited.patch()), wanted) << edited.patch();
    } else {
      ASSERT_EQ(edited.patch(), "");
    }
    std::uint32_t line = 1;
    std::uint32_t column = 1;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const auto origin = edited.origin(line, column);
      if (!origin) FAIL() << "round " << round << " at " << i;
      if (origins[i] != kNone) {
        ASSERT_EQ(origin->offset, origins[i]) << "round " << round << " at " << i;
        ASSERT_EQ(origin->annotation, kNone);
      }
      ++column;
      if (wanted[i] == '\n') {
        ++line;
        column = 1;
      }
    }
  }
}

TEST(AnnotateSource, AttributesStandBehindQualifiers) {
  const auto behind = [](const std::string& text) {
    const Source source("a.h", text);
    return text.substr(source.behind_qualifiers(text.find(')') + 1));
  };
  EXPECT_EQ(behind("int f() const;"), ";");
  EXPECT_EQ(behind("int f() const noexcept(sizeof(int) > 2) override { }"), " { }");
  EXPECT_EQ(behind("int f() /* a */ const&& final = 0;"), " = 0;");
  EXPECT_EQ(behind("A() : constant(1) {}"), " : constant(1) {}");
  EXPECT_EQ(behind("void f() throw() override"), "");
}

TEST(AnnotateSource, IncludesStandBehindThoseUnderNoCondition) {
  const auto line_of = [](const std::string& text, const std::string& before) {
    const Source source("a.h", text);
    return source.line(source.include("<a.h>", text.find(before)).offset);
  };
  EXPECT_EQ(line_of("#ifndef A\n#define A\n#include <x>\n#ifdef B\n#include <b>\n#endif\nint i;\n",
                    "int"),
            4);
  EXPECT_EQ(line_of("#ifndef A\n#define A\n\nint i;\n#include <late>\n", "int"), 3);
  EXPECT_EQ(line_of("// a\n#pragma once\nint i;\n", "int"), 3);
  EXPECT_EQ(line_of("int i;\n", "int"), 1);
  EXPECT_EQ(Source("a.h", "#include <x>\r\nint i;\r\n").include("<a.h>", 14).text,
            "#include <a.h>\r\n");
}

}  // namespace
}  // namespace tomos::annotate
