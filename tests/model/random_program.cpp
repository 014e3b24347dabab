#include "random_program.h"

#include <fmt/format.h>

#include <utility>

namespace tomos::oracle {

namespace {

using Kind = Line::Kind;

std::uint32_t random_variable(Random& random) {
  return random.percent(10) ? SmallProgram::kSilent : random.below(SmallProgram::kSilent);
}

Term random_term(Random& random, std::uint32_t depth) {
  Term term;
  const std::uint32_t what = random.below(depth == 0 ? 10 : 16);
  if (what < 1) {
    term.kind = random.percent(50) ? Term::Kind::kTrue : Term::Kind::kFalse;
  } else if (what < 2) {
    term.kind = Term::Kind::kAny;
  } else if (what < 6) {
    term.kind = Term::Kind::kShared;
    term.variable = random_variable(random);
  } else if (what < 10) {
    term.kind = Term::Kind::kLocal;
    term.variable = random.below(SmallProgram::kLocals);
  } else if (what < 12) {
    term.kind = Term::Kind::kNot;
    term.terms.push_back(random_term(random, depth - 1));
  } else {
    term.kind = what < 14 ? Term::Kind::kAnd : what < 15 ? Term::Kind::kOr : Term::Kind::kEqual;
    term.terms.push_back(random_term(random, depth - 1));
    term.terms.push_back(random_term(random, depth - 1));
  }
  return term;
}

struct Maker {
  Random& random;
  std::uint32_t tasks;
  std::uint32_t self;
  std::uint32_t left;  // lines that may still be made

  std::vector<Line> lines(std::uint32_t most, std::uint32_t depth, bool in_atomic) {
    std::vector<Line> result;
    for (std::uint32_t i = random.between(1, most); i > 0 && left > 0; --i) {
      --left;
      add(result, depth, in_atomic);
    }
    return result;
  }

  Line assign() {
    Line one;
    one.kind = Kind::kAssign;
    one.local = random.percent(35);
    one.object = one.local ? random.below(SmallProgram::kLocals) : random_variable(random);
    one.value = random_term(random, 1);
    one.guarded = random.percent(10);
    if (one.guarded) one.term = random_term(random, 1);
    return one;
  }

  void add(std::vector<Line>& result, std::uint32_t depth, bool in_atomic) {
    const std::uint32_t what = random.below(100);
    Line one;
    if (what < 40) {
      result.push_back(assign());
    } else if (what < 60 && depth > 0) {
      one.kind = Kind::kAtomic;
      if (in_atomic) one.kind = random.percent(50) ? Kind::kIf : Kind::kAtomic;
      one.term = random_term(random, 1);
      one.body = lines(3, depth - 1, true);
      if (one.kind == Kind::kIf && random.percent(50))
        one.otherwise = lines(2, depth - 1, in_atomic);
      result.push_back(std::move(one));
    } else if (what < 75) {
      // Mostly as it should be: what is acquired is released.
      one.object = random.below(SmallProgram::kLocks);
      if (random.percent(4)) {
        one.kind = random.percent(50) ? Kind::kAcquire : Kind::kRelease;
        result.push_back(std::move(one));
        return;
      }
      const std::uint32_t lock = one.object;
      if (depth > 0 && random.percent(15)) {
        one.kind = Kind::kTry;
        one.otherwise = lines(2, depth - 1, in_atomic);
        if (random.percent(80)) {  // as it should be: only who has it releases it
          Line held;
          held.kind = Kind::kAssign;
          held.local = true;
          held.object = 0;
          held.value.kind = Term::Kind::kTrue;
          result.push_back(held);
          held.value.kind = Term::Kind::kFalse;
          one.otherwise.insert(one.otherwise.begin(), held);
          result.push_back(std::move(one));
          Line test;
          test.kind = Kind::kIf;
          test.term.kind = Term::Kind::kLocal;
          test.term.variable = 0;
          test.body = lines(2, depth - 1, in_atomic);
          test.body.push_back({.kind = Kind::kRelease, .object = lock});
          result.push_back(std::move(test));
          return;
        }
        result.push_back(std::move(one));
        return;
      }
      one.kind = Kind::kAcquire;
      result.push_back(one);
      for (Line& inner : lines(2, depth == 0 ? 0 : depth - 1, in_atomic)) {
        result.push_back(std::move(inner));
      }
      if (random.percent(15)) {
        one.kind = random.percent(60)   ? Kind::kWait
                   : random.percent(50) ? Kind::kNotify
                                        : Kind::kNotifyAll;
        result.push_back(one);
      }
      one.kind = Kind::kRelease;
      one.object = lock;
      result.push_back(std::move(one));
    } else {
      result.push_back(rare(depth, in_atomic));
    }
  }

  Line rare(std::uint32_t depth, bool in_atomic) {
    Line one;
    one.term = random_term(random, 1);
    switch (random.below(depth > 0 ? 12 : 8)) {
      case 0:
        one.kind = Kind::kAssume;
        break;
      case 1:
        one.kind = random.percent(30) ? Kind::kAssert : Kind::kSkip;
        break;
      case 2:
        one.kind = Kind::kSwap;
        break;
      case 3:
        one.kind = random.percent(50) ? Kind::kStart : Kind::kJoin;
        one.object = random.below(tasks);
        if (one.object == self) one.kind = Kind::kSkip;
        break;
      case 4:
        one.kind = random.percent(50) ? Kind::kNotify : Kind::kNotifyAll;
        break;
      case 8:
      case 9:
      case 10:
        one.kind = Kind::kIf;
        one.body = lines(2, depth - 1, in_atomic);
        if (random.percent(50)) one.otherwise = lines(2, depth - 1, in_atomic);
        break;
      case 11:
        one.kind = Kind::kWhile;
        one.body = lines(2, depth - 1, in_atomic);
        break;
      default:
        return assign();
    }
    return one;
  }
};

std::string text_of(const Term& term) {
  switch (term.kind) {
    case Term::Kind::kFalse:
      return "false";
    case Term::Kind::kTrue:
      return "true";
    case Term::Kind::kAny:
      return "*";
    case Term::Kind::kShared:
      return fmt::format("x{}", term.variable);
    case Term::Kind::kLocal:
      return fmt::format("a{}", term.variable);
    case Term::Kind::kNot:
      return fmt::format("!({})", text_of(term.terms[0]));
    case Term::Kind::kAnd:
      return fmt::format("({} && {})", text_of(term.terms[0]), text_of(term.terms[1]));
    case Term::Kind::kOr:
      return fmt::format("({} || {})", text_of(term.terms[0]), text_of(term.terms[1]));
    case Term::Kind::kEqual:
      return fmt::format("({} == {})", text_of(term.terms[0]), text_of(term.terms[1]));
  }
  return "";
}

std::string text_of(const std::vector<Line>& lines, const std::string& indent);

std::string text_of(const Line& line, const std::string& indent) {
  const auto block = [&](const std::vector<Line>& lines) {
    return "{\n" + text_of(lines, indent + "  ") + indent + "}";
  };
  switch (line.kind) {
    case Kind::kSkip:
      return "skip;";
    case Kind::kAssign:
      return fmt::format("{}{}{} = {};",
                         line.guarded ? fmt::format("when ({}) ", text_of(line.term)) : "",
                         line.local ? "a" : "x", line.object, text_of(line.value));
    case Kind::kSwap:
      return "x0, x1 = x1, x0;";
    case Kind::kAssume:
      return fmt::format("assume({});", text_of(line.term));
    case Kind::kAssert:
      return fmt::format("assert({});", text_of(line.term));
    case Kind::kIf:
      return fmt::format("if ({}) {}", text_of(line.term), block(line.body)) +
             (line.otherwise.empty() ? "" : " else " + block(line.otherwise));
    case Kind::kWhile:
      return fmt::format("while ({}) {}", text_of(line.term), block(line.body));
    case Kind::kAtomic:
      return "atomic " + block(line.body);
    case Kind::kAcquire:
      return fmt::format("acquire l{};", line.object);
    case Kind::kTry:
      return fmt::format("acquire l{} else {}", line.object, block(line.otherwise));
    case Kind::kRelease:
      return fmt::format("release l{};", line.object);
    case Kind::kStart:
      return fmt::format("start T{};", line.object);
    case Kind::kJoin:
      return fmt::format("join T{};", line.object);
    case Kind::kWait:
      return fmt::format("wait(c, l{});", line.object);
    case Kind::kNotify:
      return "notify(c);";
    case Kind::kNotifyAll:
      return "notify_all(c);";
  }
  return "";
}

std::string text_of(const std::vector<Line>& lines, const std::string& indent) {
  std::string text;
  for (const Line& line : lines) text += indent + text_of(line, indent) + '\n';
  return text;
}

void smaller_lines(const std::vector<Line>& lines, std::vector<std::vector<Line>>& all) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::vector<Line> without = lines;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    all.push_back(without);
    if (!lines[i].body.empty()) {
      without.insert(without.begin() + static_cast<std::ptrdiff_t>(i), lines[i].body.begin(),
                     lines[i].body.end());
      all.push_back(std::move(without));
    }
    for (const bool inner : {true, false}) {
      std::vector<std::vector<Line>> changed;
      smaller_lines(inner ? lines[i].body : lines[i].otherwise, changed);
      for (std::vector<Line>& body : changed) {
        all.push_back(lines);
        (inner ? all.back()[i].body : all.back()[i].otherwise) = std::move(body);
      }
    }
  }
}

}  // namespace

SmallProgram random_program(Random& random) {
  SmallProgram program;
  const std::uint32_t tasks = random.between(1, 3);
  std::uint32_t threads = 0;
  for (std::uint32_t i = 0; i < tasks; ++i) {
    Task task;
    const bool alone = tasks == 1;
    if (alone || (tasks == 2 && random.percent(25))) task.count = random.between(2, alone ? 3 : 2);
    threads += task.count;
    program.tasks.push_back(std::move(task));
  }
  for (std::uint32_t i = 0; i < tasks; ++i) {
    Maker maker{.random = random, .tasks = tasks, .self = i, .left = threads > 2 ? 4U : 6U};
    program.tasks[i].lines = maker.lines(threads > 2 ? 3 : 5, 2, false);
  }
  return program;
}

std::string to_text(const SmallProgram& program) {
  std::string text = "bool x0, x1, x2 = true;\nstate bool x3;\nlock l0, l1;\ncond c;\n";
  for (std::size_t i = 0; i < program.tasks.size(); ++i) {
    const Task& task = program.tasks[i];
    text += fmt::format("thread T{}{} {{\n  bool a0, a1;\n{}}}\n", i,
                        task.count > 1 ? fmt::format("[{}]", task.count) : "",
                        text_of(task.lines, "  "));
  }
  return text;
}

std::vector<SmallProgram> smaller(const SmallProgram& program) {
  std::vector<SmallProgram> all;
  for (std::size_t i = 0; i < program.tasks.size(); ++i) {
    if (program.tasks[i].count > 1) {
      all.push_back(program);
      --all.back().tasks[i].count;
    }
    std::vector<std::vector<Line>> changed;
    smaller_lines(program.tasks[i].lines, changed);
    for (std::vector<Line>& lines : changed) {
      all.push_back(program);
      all.back().tasks[i].lines = std::move(lines);
    }
  }
  return all;
}

}  // namespace tomos::oracle
