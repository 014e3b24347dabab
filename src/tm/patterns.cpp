#include "tm/patterns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace tomos::tm {

namespace {

constexpr const char* kPatternRemedy =
    "A pattern is a line like `RwR: R(x) / W(x) / R(y)`; docs/tm.md says more.";

class PatternReader {
 public:
  PatternReader(std::string_view line, std::string where) : line_(line), where_(std::move(where)) {}

  Result<Pattern> read() {
    skip();
    Pattern made;
    const std::size_t begin = at_;
    while (at_ < line_.size() && line_[at_] != ':' && !is_blank(line_[at_])) ++at_;
    made.name = line_.substr(begin, at_ - begin);
    if (made.name.empty() || !take(':')) return wrong("a name and `:` are missing here");
    const std::array parts = {&made.first, &made.cut, &made.second};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (i > 0 && !take('/')) return wrong("`/` or a step like R(x) is missing here");
      skip();
      while (at_ < line_.size() && line_[at_] != '/') {
        auto step = read_step();
        if (!step) return std::unexpected(step.error());
        parts[i]->push_back(*step);
        skip();
      }
      const bool does_something =
          std::ranges::any_of(*parts[i], [](const PatternStep& step) { return !step.negated; });
      if (!does_something) return wrong("each of the three parts must read or write something");
    }
    if (at_ < line_.size()) return wrong("a pattern has three parts, not more");
    made.variables = letters_.size();
    return made;
  }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  void skip() {
    while (at_ < line_.size() && is_blank(line_[at_])) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= line_.size() || line_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::unexpected<Error> wrong(std::string what) const {
    return std::unexpected(Error{.where = fmt::format("{}:{}", where_, at_ + 1),
                                 .what = std::move(what),
                                 .remedy = kPatternRemedy});
  }

  Result<PatternStep> read_step() {
    PatternStep step;
    step.negated = take('!');
    skip();
    const char kind = at_ < line_.size() ? line_[at_] : ' ';
    if (std::string_view("RrWw").find(kind) == std::string_view::npos) {
      return wrong("R(..) or W(..) is missing here");
    }
    step.writes = kind == 'W' || kind == 'w';
    ++at_;
    if (!take('(')) return wrong("`(` is missing here");
    skip();
    const std::size_t begin = at_;
    while (at_ < line_.size() &&
           (std::isalnum(static_cast<unsigned char>(line_[at_])) != 0 || line_[at_] == '_')) {
      ++at_;
    }
    const std::string name(line_.substr(begin, at_ - begin));
    if (name.empty()) return wrong("the name of a variable is missing here");
    if (!take(')')) return wrong("`)` is missing here");
    step.variable = letters_.emplace(name, letters_.size()).first->second;
    return step;
  }

  std::string_view line_;
  std::string where_;
  std::size_t at_ = 0;
  std::map<std::string, std::size_t> letters_;
};

// What a transaction reads and writes, by the names of fields.
struct NamedAccesses {
  std::map<std::string, LocationId> reads;
  std::map<std::string, LocationId> writes;
};

using Assignment = std::vector<const std::string*>;

bool fits(const std::vector<PatternStep>& steps, const NamedAccesses& accesses,
          const Assignment& variables) {
  return std::ranges::all_of(steps, [&](const PatternStep& step) {
    const std::string* name = variables[step.variable];
    const auto& names = step.writes ? accesses.writes : accesses.reads;
    return (name != nullptr && names.contains(*name)) != step.negated;
  });
}

// Tries every way to give different names to the variables.
std::optional<Assignment> match(const Pattern& pattern, const NamedAccesses& first,
                                const NamedAccesses& cut, const NamedAccesses& second) {
  std::set<std::string> names;
  for (const NamedAccesses* one : {&first, &cut, &second}) {
    for (const auto* all : {&one->reads, &one->writes}) {
      for (const auto& [name, at] : *all) names.insert(name);
    }
  }
  // A variable can only be what its first positive step does.
  const auto candidates = [&](std::size_t variable) -> const std::map<std::string, LocationId>* {
    for (const auto& [steps, accesses] :
         {std::pair(&pattern.first, &first), {&pattern.cut, &cut}, {&pattern.second, &second}}) {
      for (const PatternStep& step : *steps) {
        if (step.variable == variable && !step.negated) {
          return step.writes ? &accesses->writes : &accesses->reads;
        }
      }
    }
    return nullptr;
  };
  Assignment chosen(pattern.variables, nullptr);
  const auto assign = [&](const auto& self, std::size_t variable) -> bool {
    if (variable == chosen.size()) {
      return fits(pattern.first, first, chosen) && fits(pattern.cut, cut, chosen) &&
             fits(pattern.second, second, chosen);
    }
    const auto* from = candidates(variable);
    if (from == nullptr) return self(self, variable + 1);
    for (const auto& [name, at] : *from) {
      const bool used = std::ranges::any_of(
          chosen, [&](const std::string* other) { return other != nullptr && *other == name; });
      if (used) continue;
      chosen[variable] = &*names.find(name);
      if (self(self, variable + 1)) return true;
      chosen[variable] = nullptr;
    }
    return false;
  };
  if (!assign(assign, 0)) return std::nullopt;
  // The names must outlive this.
  for (const std::string*& name : chosen) {
    if (name == nullptr) continue;
    for (const auto* all :
         {&first.reads, &first.writes, &cut.reads, &cut.writes, &second.reads, &second.writes}) {
      if (const auto at = all->find(*name); at != all->end()) name = &at->first;
    }
  }
  return chosen;
}

}  // namespace

Result<std::vector<Pattern>> parse_patterns(std::string_view text, const std::string& file) {
  std::vector<Pattern> patterns;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    auto pattern = PatternReader(line, fmt::format("{}:{}", file, number)).read();
    if (!pattern) return std::unexpected(pattern.error());
    patterns.push_back(std::move(*pattern));
  }
  if (patterns.empty()) {
    return std::unexpected(Error{
        .where = file + ":1:1", .what = "there is no pattern in it", .remedy = kPatternRemedy});
  }
  return patterns;
}

const std::vector<Pattern>& base_patterns() {
  static const std::vector<Pattern> patterns = *parse_patterns(
      "RwR: R(x) / W(x) / R(y)\n"
      "WrW: W(x) / R(x) / W(y)\n"
      "RwW: R(x) / W(x) / W(x)\n",
      "base");
  return patterns;
}

std::vector<Anomaly> match_patterns(const Program& program, const Traces& traces,
                                    const std::vector<Pattern>& patterns) {
  std::vector<NamedAccesses> named(traces.transactions.size());
  for (std::size_t i = 0; i < named.size(); ++i) {
    for (const auto& [at, position] : traces.transactions[i].reads) {
      named[i].reads.emplace(traces.name_of(program, at), at);
    }
    for (const auto& [at, position] : traces.transactions[i].writes) {
      named[i].writes.emplace(traces.name_of(program, at), at);
    }
  }
  const auto location = [&](const Pattern& pattern, const std::vector<PatternStep>& steps,
                            const Assignment& variables, TransactionId id) {
    (void)pattern;
    const auto step = std::ranges::find(steps, false, &PatternStep::negated);
    const auto& names = step->writes ? named[id].writes : named[id].reads;
    return names.at(*variables[step->variable]);
  };
  std::vector<Anomaly> found;
  for (const auto& [first, second] : traces.adjacent) {
    for (TransactionId cut = 0; cut < named.size(); ++cut) {
      for (const Pattern& pattern : patterns) {
        const auto variables = match(pattern, named[first], named[cut], named[second]);
        if (!variables) continue;
        found.push_back({.pattern = pattern.name,
                         .first = first,
                         .cut = cut,
                         .second = second,
                         .one = location(pattern, pattern.first, *variables, first),
                         .other = location(pattern, pattern.second, *variables, second)});
      }
    }
  }
  return found;
}

}  // namespace tomos::tm
