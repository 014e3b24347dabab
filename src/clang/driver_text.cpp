#include "clang/driver_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

namespace tomos::cpp {

namespace {

// What the language keeps for itself, as docs/bp.md has it.
const std::set<std::string, std::less<>> kBooleanWords = {
    "acquire", "assert", "assume", "atomic", "bool",  "cond",  "const",  "else",       "false",
    "goto",    "if",     "init",   "int",    "join",  "lock",  "notify", "notify_all", "proc",
    "release", "return", "self",   "skip",   "start", "state", "step",   "thread",     "true",
    "wait",    "when",   "while",  "begin",  "end",   "read",  "write",  "exit"};

// "start T1;" of thread 1.
std::string done_to(std::string_view what, const std::string& thread) {
  return fmt::format("{} {};", what, thread);
}

// Where main does this to the threads first..last, one line after the other; or nowhere.
bool in_a_row(const std::vector<DriverLine>& lines, std::string_view what,
              const std::vector<DriverThread>& threads, std::size_t first, std::size_t last,
              bool must) {
  const auto is = [&](std::size_t line, std::size_t thread) {
    return line < lines.size() && lines[line].text == done_to(what, threads[thread].name);
  };
  std::vector<std::size_t> where;
  for (std::size_t line = 0; line < lines.size(); ++line) {
    for (std::size_t thread = first; thread <= last; ++thread) {
      if (is(line, thread)) where.push_back(line);
    }
  }
  if (where.empty()) return !must;
  if (where.size() != last - first + 1) return false;
  for (std::size_t i = 0; i < where.size(); ++i) {
    if (!is(where.front() + i, first + i)) return false;
  }
  return true;
}

bool same_code(const DriverThread& a, const DriverThread& b) {
  return std::ranges::equal(a.lines, b.lines, {}, &DriverLine::text, &DriverLine::text);
}

// The threads first..last become one.
void unite(std::vector<DriverThread>& threads, std::size_t first, std::size_t last) {
  const std::string name = threads[first].name;
  std::vector<std::string> others;
  for (std::size_t i = first + 1; i <= last; ++i) others.push_back(threads[i].name);
  std::erase_if(threads[0].lines, [&](const DriverLine& line) {
    return std::ranges::any_of(others, [&](const std::string& other) {
      return line.text == done_to("start", other) || line.text == done_to("join", other);
    });
  });
  threads[first].name = fmt::format("{}[{}]", name, last - first + 1);
  threads.erase(threads.begin() + static_cast<std::ptrdiff_t>(first) + 1,
                threads.begin() + static_cast<std::ptrdiff_t>(last) + 1);
}

void unite_equal(std::vector<DriverThread>& threads) {
  for (std::size_t first = 1; first < threads.size(); ++first) {
    std::size_t last = first;
    while (last + 1 < threads.size() && same_code(threads[first], threads[last + 1])) ++last;
    const bool started_by_main = in_a_row(threads[0].lines, "start", threads, first, last, true);
    if (last > first && started_by_main &&
        in_a_row(threads[0].lines, "join", threads, first, last, false)) {
      unite(threads, first, last);
    }
  }
}

}  // namespace

std::string identifier(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool fits = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    if (fits) {
      result += c;
    } else if (!result.empty() && result.back() != '_') {
      result += '_';
    }
  }
  if (text.ends_with(']') && result.ends_with('_')) result.pop_back();
  if (result.empty() || std::isdigit(static_cast<unsigned char>(result.front())) != 0 ||
      kBooleanWords.contains(result)) {
    result.insert(0, "_");
  }
  return result;
}

void write_driver(Driver& driver, const std::vector<DriverVariable>& variables,
                  std::vector<DriverThread> threads) {
  unite_equal(threads);
  driver.text.clear();
  driver.origins = {{}, {}};
  driver.steps = {{}, {}};
  const auto add = [&](std::size_t depth, const std::string& text, const DriverPosition& at,
                       DriverStep step = DriverStep::kNone) {
    std::string line(2 * depth, ' ');
    line += text;
    if (at.line != 0) {
      const std::string file = std::filesystem::path(driver.files[at.file]).filename().string();
      line = fmt::format("{:<39} // {}:{}", line, file, at.line);
    }
    driver.text += line + '\n';
    driver.origins.back() = at;
    driver.origins.emplace_back();
    driver.steps.back() = step;
    driver.steps.emplace_back();
  };
  for (const DriverVariable& variable : variables) {
    const std::string initial = variable.initial.empty() ? "" : " = " + variable.initial;
    const auto name = driver.names.find(variable.name);
    const std::string known =
        name == driver.names.end() || name->second == variable.name ? "" : "  // " + name->second;
    add(0, fmt::format("{} {}{};{}", variable.type, variable.name, initial, known), {});
  }
  for (const DriverThread& thread : threads) {
    add(0, "", {});
    add(0, fmt::format("thread {} {{", thread.name), thread.position);
    std::size_t depth = 1;
    for (const DriverLine& line : thread.lines) {
      if (line.text.starts_with('}')) --depth;
      add(depth, line.text, line.position, line.step);
      if (line.text.ends_with('{')) ++depth;
    }
    add(0, "}", {});
  }
}

}  // namespace tomos::cpp
