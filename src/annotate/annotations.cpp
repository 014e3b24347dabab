#include "annotate/annotations.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "annotate/spelling.h"

namespace tomos::annotate {

using core::Class;
using core::Field;
using core::Guard;
using core::Method;
using Kind = Annotation::Kind;

namespace {

const std::string& shown(const auto& of) { return of.display.empty() ? of.name : of.display; }

class Collector {
 public:
  Collector(const core::Program& program, const Given& given,
            const std::vector<Atomicity>& atomicities)
      : program_(program), given_(given), atomicities_(atomicities), spelling_(program) {}

  std::vector<Annotation> run() {
    for (const Class& of : program_.classes) {
      for (const Field& field : of.fields) {
        guard(field, &of, fmt::format("{}::{}", shown(of), shown(field)));
      }
    }
    for (const Field& global : program_.globals) guard(global, nullptr, shown(global));
    for (const Class& of : program_.classes) {
      for (const Method& one : of.methods) method(one, &of);
    }
    for (const Method& one : program_.functions) method(one, nullptr);
    for (const core::Position& place : disagreeing_) {
      std::erase_if(made_, [&](const Annotation& one) {
        return one.kind == Kind::kComment && one.at == place;
      });
    }
    return std::move(made_);
  }

 private:
  // All instantiations of a template say the same thing at the same place: once is enough.
  void add(Annotation made) {
    if (made.at.line == 0 && made.left_out.empty()) {
      made.left_out = "a macro makes its declaration";
    }
    const auto known = std::ranges::find_if(made_, [&](const Annotation& other) {
      return other.kind == made.kind && other.at == made.at && other.argument == made.argument &&
             other.of == made.of;
    });
    if (known == made_.end()) made_.push_back(std::move(made));
  }

  void guard(const Field& field, const Class* owner, const std::string& name) {
    const bool writes = field.guard.kind == Guard::Kind::kWriteGuardedBy;
    if (field.is_given || field.is_pt_given ||
        (!writes && field.guard.kind != Guard::Kind::kGuardedBy) || is_ghost(field.guard.lock) ||
        field.guard.said != Guard::Said::kHere) {
      return;
    }
    Annotation made = {.kind = Kind::kGuardedBy, .argument = {}, .of = name, .at = field.end};
    // The pointer itself never changes: the lock is for what it leads to.
    if (field.is_pointer && field.is_constant) made.kind = Kind::kPtGuardedBy;
    spell(made, field.guard.lock, owner, nullptr);
    if (writes && made.left_out.empty()) {
      made.kind = Kind::kComment;
      made.argument = fmt::format("/* writes guarded by {} */", made.argument);
    }
    add(std::move(made));
  }

  // A lock of whoever owns the object, for which Clang has no word.
  bool is_ghost(core::LockId lock) const {
    return program_.locks[lock].kind == core::Lock::Kind::kGhost;
  }

  void spell(Annotation& made, core::LockId lock, const Class* owner, const Method* of) const {
    auto text = spelling_.of(lock, owner, of, made.of);
    if (text) {
      made.argument = std::move(*text);
    } else {
      made.argument = program_.locks.to_string(lock);
      made.left_out = std::move(text.error());
    }
  }

  void method(const Method& of, const Class* owner) {
    const std::size_t index = next_++;
    const bool is_lambda = of.name.find("::lambda@") != std::string::npos;
    // Clang looks into no constructor and no destructor.
    if (of.kind == Method::Kind::kConstructor || of.kind == Method::Kind::kDestructor) return;
    if (of.no_warn || of.position.line == 0) return;
    const Class* inside = of.kind == Method::Kind::kStatic ? nullptr : owner;
    const auto each = [&](Kind kind, const std::vector<core::LockId>& locks, std::size_t given) {
      for (std::size_t i = given; i < locks.size(); ++i) {
        if (is_ghost(locks[i])) continue;
        // Who gives it back says so already.
        const bool unsaid = std::ranges::find(of.unsaid, locks[i]) != of.unsaid.end() ||
                            std::ranges::find(of.releases, locks[i]) != of.releases.end();
        if (kind == Kind::kRequires && unsaid) continue;
        Annotation made = {
            .kind = kind, .argument = {}, .of = shown(of), .at = of.end, .of_lambda = is_lambda};
        spell(made, locks[i], inside, &of);
        // Of a lock that has no name outside, nobody need be told.
        if (kind != Kind::kExcludes || made.left_out.empty()) add(std::move(made));
      }
    };
    const Given::Counts& given = given_.methods[index];
    each(Kind::kRequires, of.requires_held, given.required);
    if (!is_lambda && !of.is_given) {
      each(Kind::kAcquires, of.acquires, given.acquired);
      each(Kind::kReleases, of.releases, given.released);
      // Who acquires it says so already.
      std::vector<core::LockId> excluded;
      for (std::size_t i = given.excluded; i < of.excludes.size(); ++i) {
        const bool said = std::ranges::find(of.acquires, of.excludes[i]) != of.acquires.end();
        if (!said) excluded.push_back(of.excludes[i]);
      }
      each(Kind::kExcludes, excluded, 0);
      if (index < atomicities_.size() && of.body != core::kNoExpr) {
        atomicity(of, atomicities_[index]);
      }
    }
  }

  // As a demand, which the next run checks; what is atomic only for those who hold a lock cannot be
  // one.
  void atomicity(const Method& of, const Atomicity& found) {
    const auto ghost = [&](core::LockId lock) { return is_ghost(lock); };
    if (of.begin.line == 0 || std::ranges::any_of(of.requires_held, ghost)) return;
    const bool is_conditional = !of.requires_held.empty() || !of.releases.empty();
    // Where no lock is concerned it would only be noise.
    const bool is_told =
        is_conditional ? found.basic <= core::Basic::kMover || found.basic == core::Basic::kAtomic
                       : found.basic == core::Basic::kAtomic && !of.excludes.empty();
    const std::string_view word = core::to_string(found.basic);
    const std::string text = !is_told || found.is_declared ? ""
                             : is_conditional              ? fmt::format("/* {} */", word)
                                                           : fmt::format("/*# {} */", word);
    const auto [at, is_new] =
        said_.emplace(std::tuple(of.begin.file, of.begin.line, of.begin.column), text);
    if (!is_new && at->second != text) disagreeing_.push_back(of.begin);
    if (text.empty()) return;
    add({.kind = Kind::kComment, .argument = text, .of = shown(of), .at = of.begin});
  }

  const core::Program& program_;
  const Given& given_;
  const std::vector<Atomicity>& atomicities_;
  Spelling spelling_;
  std::vector<Annotation> made_;
  std::size_t next_ = 0;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::string> said_;
  std::vector<core::Position> disagreeing_;
};

}  // namespace

std::string_view attribute_of(Annotation::Kind kind) {
  switch (kind) {
    case Kind::kGuardedBy:
      return "guarded_by";
    case Kind::kPtGuardedBy:
      return "pt_guarded_by";
    case Kind::kRequires:
      return "requires_capability";
    case Kind::kRequiresShared:
      return "requires_shared_capability";
    case Kind::kExcludes:
      return "locks_excluded";
    case Kind::kAcquires:
      return "acquire_capability";
    case Kind::kReleases:
      return "release_capability";
    case Kind::kNoAnalysis:
      return "no_thread_safety_analysis";
    case Kind::kComment:
      break;
  }
  return {};
}

Given given_by(const core::Program& program) {
  Given given;
  const auto add = [&](const Method& of) {
    // Without attributes, what is required so far is what the body asserts.
    Given::Counts counts = {.excluded = of.excludes.size()};
    if (of.is_given) {
      counts.required = of.requires_held.size();
      counts.acquired = of.acquires.size();
      counts.released = of.releases.size();
    }
    given.methods.push_back(counts);
  };
  for (const Class& of : program.classes) std::ranges::for_each(of.methods, add);
  std::ranges::for_each(program.functions, add);
  return given;
}

std::vector<Annotation> annotations_of(const core::Program& program, const Given& given,
                                       const std::vector<Atomicity>& atomicities) {
  return Collector(program, given, atomicities).run();
}

}  // namespace tomos::annotate
