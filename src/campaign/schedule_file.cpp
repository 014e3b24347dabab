#include "campaign/schedule_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "campaign/schedule_text.h"
#include "symbols/lines.h"

namespace tomos::campaign {

namespace {

constexpr std::string_view kFirstLine = "tomos-schedule 1";

std::optional<double> part(std::string_view text) {
  double value = 0;
  const char* begin = text.data();
  const char* end = begin + text.size();
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || stop != end || !(value >= 0 && value <= 1)) return std::nullopt;
  return value;
}

// "1 step 5 next 2 preempts", what follows "thread".
std::optional<schedule::Choice> choice_of(std::string_view text) {
  const auto [thread, after_thread] = split_word(text);
  const auto [step_word, after_step_word] = split_word(after_thread);
  const auto [step, after_step] = split_word(after_step_word);
  const auto [next_word, after_next_word] = split_word(after_step);
  const auto [next, end] = split_word(after_next_word);
  const auto thread_number = number<std::uint32_t>(thread);
  const auto step_number = number<std::uint32_t>(step);
  const auto next_number = number<std::uint32_t>(next);
  const bool fits =
      step_word == "step" && next_word == "next" && (end.empty() || end == "preempts");
  if (!fits || !thread_number || !step_number || !next_number) return std::nullopt;
  return schedule::Choice{.thread = *thread_number,
                          .step = *step_number,
                          .next = *next_number,
                          .preempts = end.empty() ? 0U : 1U};
}

// kNone: whatever the call in this line does.
constexpr std::array kFollowed = {
    std::pair{schedule::Kind::kRead, "read"},
    std::pair{schedule::Kind::kWrite, "write"},
    std::pair{schedule::Kind::kLock, "lock"},
    std::pair{schedule::Kind::kUnlock, "unlock"},
    std::pair{schedule::Kind::kCreate, "create"},
    std::pair{schedule::Kind::kJoin, "join"},
    std::pair{schedule::Kind::kWait, "wait"},
    std::pair{schedule::Kind::kNotify, "notify"},
    std::pair{schedule::Kind::kAtomicRead, "atomic-read"},
    std::pair{schedule::Kind::kAtomicWrite, "atomic-write"},
    std::pair{schedule::Kind::kSemaphoreWait, "semaphore-wait"},
    std::pair{schedule::Kind::kSemaphorePost, "semaphore-post"},
    std::pair{schedule::Kind::kBarrier, "barrier"},
    std::pair{schedule::Kind::kOnce, "once"},
    std::pair{schedule::Kind::kNone, "call"},
};

// `rest` is "a.cpp:12", "a.cpp:12 times 2" or "times 2"; a file may be called "times 2".
bool has_place(schedule::Kind kind, std::string_view rest) {
  const bool may_have = kind == schedule::Kind::kAtomicRead || kind == schedule::Kind::kAtomicWrite;
  return kind == schedule::Kind::kRead || kind == schedule::Kind::kWrite ||
         kind == schedule::Kind::kNone || (may_have && rest.contains(':'));
}

// "1 until read account.cpp:12 times 2", what follows "thread".
std::optional<FollowedStretch> stretch_of(std::string_view text) {
  const auto [thread, after_thread] = split_word(text);
  const auto [until, after_until] = split_word(after_thread);
  auto [kind, rest] = split_word(after_until);
  const auto known = std::ranges::find(kFollowed, kind, [](const auto& one) { return one.second; });
  const auto thread_number = number<std::uint32_t>(thread);
  if (until != "until" || known == kFollowed.end() || !thread_number) return std::nullopt;
  FollowedStretch stretch{.thread = *thread_number, .kind = known->first};
  if (has_place(stretch.kind, rest)) {
    const std::size_t times = rest.rfind(" times ");
    const std::string_view place = rest.substr(0, times);
    rest = times == std::string_view::npos ? std::string_view() : rest.substr(times + 1);
    const std::size_t colon = place.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return std::nullopt;
    const auto file = unescaped(place.substr(0, colon));
    const auto line = number<std::uint32_t>(place.substr(colon + 1));
    if (!file || !line || *line == 0) return std::nullopt;
    stretch.file = *file;
    stretch.line = *line;
  }
  if (rest.empty()) return stretch;
  const auto [times_word, times] = split_word(rest);
  const auto times_number = number<std::uint32_t>(times);
  if (times_word != "times" || !times_number || *times_number == 0) return std::nullopt;
  stretch.times = *times_number;
  return stretch;
}

// Reads line by line; stops at the first that is wrong.
class Parser {
 public:
  // What is wrong with the line, or nothing.
  std::string take(std::string_view line) {
    const auto [word, value] = split_word(line);
    if (word == "thread" && seen_.contains("stretches")) return take_stretch(value);
    if (word == "thread") return take_choice(value);
    if (word == "place") return take_place(value);
    if (finding_.takes(word)) return finding_.take(word, value);
    if (word != "argument" && !seen_.insert(std::string(word)).second) {
      return fmt::format("'{}' stands here a second time", word);
    }
    const auto text = unescaped(value);
    if (!text) return "a backslash with nothing that belongs to it";
    if (word == "program") return take_program(*text);
    if (word == "argument") return take_argument(*text);
    if (word == "strategy") return take_strategy(*text);
    if (word == "seed") return keep(schedule_.seed, number<std::uint64_t>(*text));
    if (word == "accesses") return take_accesses(*text);
    if (word == "undeclared") return take_undeclared(*text);
    if (word == "pause-probability") return keep(schedule_.settings.pause_probability, part(*text));
    if (word == "depth") return keep(schedule_.settings.depth, number<std::uint32_t>(*text));
    if (word == "hash") return keep(schedule_.hash, number<std::uint64_t>(*text, 16));
    if (word == "choices" || word == "stretches") {
      return keep(count_, number<std::uint32_t>(*text));
    }
    if (word == "learnt") return take_learnt(*text);
    if (word == "shows") {
      const auto [id, shows] = split_word(*text);
      schedule_.id = id;
      schedule_.shows = shows;
      return "";
    }
    return fmt::format("'{}' means nothing here", word);
  }

  // What is missing in the end, or nothing.
  std::string missing() const {
    const bool follows = seen_.contains("stretches");
    for (const char* word : {"program", "strategy", "seed", "accesses", "hash", "choices"}) {
      if (!follows && !seen_.contains(word)) return fmt::format("there is no line '{} ...'", word);
    }
    if (follows && schedule_.stretches.empty()) return "there are no stretches";
    if (follows && schedule_.stretches.size() != count_) {
      return fmt::format("there are {} stretches, not {} as the file says",
                         schedule_.stretches.size(), count_);
    }
    if (follows) return "";
    if (schedule_.choices.size() != count_) {
      return fmt::format("there are {} choices, not {} as the file says", schedule_.choices.size(),
                         count_);
    }
    return "";
  }

  ScheduleFile result() && {
    schedule_.profile = std::move(profile_);
    schedule_.finding = std::move(finding_).result(schedule_.shows);
    return std::move(schedule_);
  }

 private:
  template <class T, class U>
  static std::string keep(T& into, const std::optional<U>& value) {
    if (!value) return "not a value that can stand here";
    into = *value;
    return "";
  }

  std::string take_choice(std::string_view text) {
    const auto choice = choice_of(text);
    if (!choice) return "not a choice: it should read 'thread N step N next N', maybe 'preempts'";
    if (schedule_.choices.size() >= schedule::kMaxChoices) return "there are too many choices";
    schedule_.choices.push_back(*choice);
    return "";
  }

  std::string take_stretch(std::string_view text) {
    const auto stretch = stretch_of(text);
    if (!stretch) {
      return "not a stretch: it should read 'thread N until read FILE:LINE', maybe 'times N'";
    }
    if (schedule_.stretches.size() >= schedule::kMaxStretches)
      return "there are too many stretches";
    schedule_.stretches.push_back(*stretch);
    return "";
  }

  std::string take_program(std::string text) {
    if (text.empty() || text.contains('\0')) return "not the name of a program";
    schedule_.words.insert(schedule_.words.begin(), std::move(text));
    return "";
  }

  std::string take_argument(std::string text) {
    if (!seen_.contains("program")) return "an argument before the program";
    if (text.contains('\0')) return "no argument can have a zero byte";
    schedule_.words.push_back(std::move(text));
    return "";
  }

  std::string take_strategy(std::string_view text) {
    schedule_.settings.strategy = strategy_called(text);
    return schedule_.settings.strategy ? "" : "there is no such strategy";
  }

  std::string take_undeclared(std::string_view text) {
    if (text != "on" && text != "off") return "neither 'on' nor 'off'";
    schedule_.settings.undeclared = text == "on";
    return "";
  }

  std::string take_learnt(std::string_view text) {
    if (text != "accesses" && text != "locks") return "neither 'accesses' nor 'locks'";
    profile_ = std::make_shared<schedule::Profile>();
    profile_->thread_count = 1;
    profile_->accesses = text == "accesses" ? 1 : 0;
    return "";
  }

  std::string take_place(std::string_view text) {
    const auto place = number<std::uint64_t>(text, 16);
    if (!place || *place == 0) return "not a place: it should read 'place ADDRESS'";
    if (profile_ == nullptr) return "a place before the line 'learnt ...'";
    if (profile_->place_count == schedule::kMaxPlaces) return "there are too many places";
    profile_->places[profile_->place_count++] = *place;
    return "";
  }

  std::string take_accesses(std::string_view text) {
    if (text != "on" && text != "off") return "neither 'on' nor 'off'";
    schedule_.settings.accesses = text == "on";
    return "";
  }

  ScheduleFile schedule_;
  std::shared_ptr<schedule::Profile> profile_;
  std::uint32_t count_ = 0;
  std::set<std::string> seen_;
  FindingReader finding_;
};

Error damaged(const std::string& where, std::string what) {
  return {
      .where = where,
      .what = std::move(what),
      .remedy = "Schedules are written by tomos fuzz --corpus DIR; let it write this one again."};
}

}  // namespace

std::string to_text(const FollowedStretch& stretch) {
  const auto known =
      std::ranges::find(kFollowed, stretch.kind, [](const auto& one) { return one.first; });
  std::string out = fmt::format("thread {} until {}", stretch.thread,
                                known == kFollowed.end() ? "?" : known->second);
  if (!stretch.file.empty()) out += fmt::format(" {}:{}", escaped(stretch.file), stretch.line);
  // A path may have the word in it.
  if (stretch.times != 1 || stretch.file.contains(' '))
    out += fmt::format(" times {}", stretch.times);
  return out;
}

Result<Order> follow(const ScheduleFile& schedule, const std::string& program) {
  Order order;
  order.settings = for_trial(schedule.settings, schedule.seed);
  order.settings.strategy = schedule::Strategy::kFollow;
  order.settings.fine_steps = 1;
  for (const FollowedStretch& stretch : schedule.stretches) {
    const auto first = static_cast<std::uint32_t>(order.ranges.size());
    if (!stretch.file.empty()) {
      const bool is_access =
          stretch.kind == schedule::Kind::kRead || stretch.kind == schedule::Kind::kWrite;
      const auto code = code_of_line(program, stretch.file, stretch.line, !is_access);
      if (!code) return std::unexpected(code.error());
      if (code->empty()) {
        return std::unexpected(
            Error{.where = program,
                  .what = fmt::format("has no code of {}:{}, where a thread is to be followed to",
                                      stretch.file, stretch.line),
                  .remedy = "Compile the driver with tomos-c++, without -O2 or more."});
      }
      for (const CodeRange& range : *code) order.ranges.push_back({range.begin, range.end});
    }
    order.stretches.push_back(
        {.thread = stretch.thread,
         .times = stretch.times,
         .first_range = first,
         .range_count = static_cast<std::uint32_t>(order.ranges.size()) - first,
         .kind = stretch.kind});
  }
  return order;
}

Order ScheduleFile::order() const {
  Order order;
  order.settings = for_trial(settings, seed);
  order.settings.strategy = schedule::Strategy::kReplay;
  order.choices = choices;
  order.profile = profile;
  return order;
}

std::string to_text(const ScheduleFile& schedule) {
  std::string out = fmt::format("{}\n", kFirstLine);
  for (std::size_t i = 0; i < schedule.words.size(); ++i) {
    out += fmt::format("{} {}\n", i == 0 ? "program" : "argument", escaped(schedule.words[i]));
  }
  const Settings& settings = schedule.settings;
  if (!schedule.stretches.empty()) {
    out += fmt::format("accesses {}\n", settings.accesses ? "on" : "off");
    if (settings.undeclared) out += "undeclared on\n";
    if (!schedule.shows.empty()) {
      out += fmt::format("shows {} {}\n", escaped(schedule.id), escaped(schedule.shows));
    }
    if (schedule.finding) out += to_lines(*schedule.finding);
    out += fmt::format("stretches {}\n", schedule.stretches.size());
    for (const FollowedStretch& stretch : schedule.stretches) out += to_text(stretch) + "\n";
    return out;
  }
  out += fmt::format("strategy {}\nseed {}\naccesses {}\npause-probability {}\ndepth {}\n",
                     to_string(strategy_of(settings, schedule.seed)), schedule.seed,
                     settings.accesses ? "on" : "off", settings.pause_probability, settings.depth);
  if (settings.undeclared) out += "undeclared on\n";
  if (schedule.profile != nullptr) {
    const schedule::Profile& profile = *schedule.profile;
    out += fmt::format("learnt {}\n", profile.accesses != 0 ? "accesses" : "locks");
    for (std::uint32_t i = 0; i < profile.place_count; ++i) {
      out += fmt::format("place {:x}\n", profile.places[i]);
    }
  }
  if (!schedule.id.empty()) {
    out += fmt::format("shows {} {}\n", escaped(schedule.id), escaped(schedule.shows));
  }
  out += fmt::format("hash {:016x}\nchoices {}\n", schedule.hash, schedule.choices.size());
  for (const schedule::Choice& choice : schedule.choices) {
    out += fmt::format("thread {} step {} next {}{}\n", choice.thread, choice.step, choice.next,
                       choice.preempts != 0 ? " preempts" : "");
  }
  return out;
}

Result<ScheduleFile> parse_schedule(std::string_view text, const std::string& name) {
  Parser parser;
  std::size_t line_number = 0;
  while (!text.empty()) {
    ++line_number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = line.substr(0, line.find('#'));
    while (line.ends_with(' ') || line.ends_with('\t') || line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    const std::string where = fmt::format("{}:{}", name, line_number);
    if (line_number == 1) {
      if (line == kFirstLine) continue;
      const bool newer = line.starts_with("tomos-schedule ");
      return std::unexpected(damaged(where, newer ? "a schedule of another version of tomos"
                                                  : "not a schedule: the first line should be '" +
                                                        std::string(kFirstLine) + "'"));
    }
    if (line.empty()) continue;
    if (std::string wrong = parser.take(line); !wrong.empty()) {
      return std::unexpected(damaged(where, std::move(wrong)));
    }
  }
  if (line_number == 0) return std::unexpected(damaged(name, "the file is empty"));
  if (std::string missing = parser.missing(); !missing.empty()) {
    return std::unexpected(damaged(fmt::format("{}:{}", name, line_number), std::move(missing)));
  }
  return std::move(parser).result();
}

Result<ScheduleFile> read_schedule(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) {
    return std::unexpected(Error{.where = path,
                                 .what = "cannot be read",
                                 .remedy = "Check the path; a program stands behind --."});
  }
  return parse_schedule(text, path);
}

}  // namespace tomos::campaign
