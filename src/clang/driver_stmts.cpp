// Statements of a driver: blocks with what is done at their end, branches, declarations.
#include <fmt/format.h>

#include <algorithm>

#include "clang/driver_types.h"
#include "clang/drivers.h"
#include "clang/unit.h"

namespace tomos::cpp {

using clang::Expr;
using clang::SourceLocation;
using clang::Stmt;
using clang::VarDecl;

namespace {

// TOMOS_ATOMIC("name") and TOMOS_NOT_ATOMIC as a declaration: the function that begins the scope.
const clang::CallExpr* scope_begin(const VarDecl& variable) {
  if (!variable.hasAttr<clang::CleanupAttr>() || variable.getInit() == nullptr) return nullptr;
  const auto* call = llvm::dyn_cast<clang::CallExpr>(variable.getInit()->IgnoreImplicit());
  const auto* callee = call == nullptr ? nullptr : call->getDirectCallee();
  return callee != nullptr && plain_name(*callee).starts_with("tomos_begin_") ? call : nullptr;
}

std::string scope_name(const clang::CallExpr& call) {
  if (call.getNumArgs() == 0) return "block";
  const auto* text = llvm::dyn_cast<clang::StringLiteral>(call.getArg(0)->IgnoreParenImpCasts());
  return text == nullptr || text->getString().empty() ? "block" : text->getString().str();
}

}  // namespace

void DriverUnit::statement(const Stmt* of) {
  if (of == nullptr) return;
  const SourceLocation at = of->getBeginLoc();
  Frame& frame = frames_.back();
  if (const auto* compound = llvm::dyn_cast<clang::CompoundStmt>(of)) {
    const std::vector<const Stmt*> list(compound->body_begin(), compound->body_end());
    block(list, compound->getRBracLoc());
  } else if (const auto* attributed = llvm::dyn_cast<clang::AttributedStmt>(of)) {
    statement(attributed->getSubStmt());
  } else if (const auto* declared = llvm::dyn_cast<clang::DeclStmt>(of)) {
    for (const clang::Decl* one : declared->decls()) {
      const auto* variable = llvm::dyn_cast<VarDecl>(one);
      if (variable != nullptr) declaration(*variable);
    }
  } else if (const auto* test = llvm::dyn_cast<clang::IfStmt>(of)) {
    branch(*test);
  } else if (const auto* counted = llvm::dyn_cast<clang::ForStmt>(of)) {
    if (!unroll(*counted)) {
      loop(counted->getInit(), counted->getCond(), counted->getInc(), counted->getBody(), false,
           at);
    }
  } else if (const auto* repeated = llvm::dyn_cast<clang::WhileStmt>(of)) {
    if (repeated->getConditionVariable() != nullptr) {
      refuse(at, "a loop declares a variable in its condition", "Declare it before.");
    }
    loop(nullptr, repeated->getCond(), nullptr, repeated->getBody(), false, at);
  } else if (const auto* once = llvm::dyn_cast<clang::DoStmt>(of)) {
    loop(nullptr, once->getCond(), nullptr, once->getBody(), true, at);
  } else if (const auto* range = llvm::dyn_cast<clang::CXXForRangeStmt>(of)) {
    range_loop(*range);
  } else if (const auto* chosen = llvm::dyn_cast<clang::SwitchStmt>(of)) {
    selection(*chosen);
  } else if (const auto* returned = llvm::dyn_cast<clang::ReturnStmt>(of)) {
    if (returned->getRetValue() != nullptr) {
      return_value(*returned);
    }
    Holding left = leave(0, at);
    std::swap(left, holding_);
    join_ways(frame.holding, at);
    std::swap(left, holding_);
    frame.elided.clear();
    emit(fmt::format("goto {};", frame.label), at);
    frame.jumps = true;
  } else if (llvm::isa<clang::BreakStmt>(of)) {
    turn(frame.breaks, at);
  } else if (llvm::isa<clang::ContinueStmt>(of)) {
    turn(frame.continues, at);
  } else if (const auto* tried = llvm::dyn_cast<clang::CXXTryStmt>(of)) {
    abstracted("exceptions are not followed:", "", at);
    statement(tried->getTryBlock());
  } else if (const auto* expr = llvm::dyn_cast<Expr>(of)) {
    const std::size_t first = frame.temporaries.size();
    (void)value(expr);
    end_temporaries(first, of->getEndLoc());
  } else if (!llvm::isa<clang::NullStmt>(of)) {
    refuse(at,
           fmt::format("a statement of this kind ({}) cannot be followed", of->getStmtClassName()),
           "Write it with if and while.");
  }
  Frame& now = frames_.back();
  for (auto& [type, name] : now.busy) now.free[type].push_back(std::move(name));
  now.busy.clear();
}

// An object is made where the caller has it; a variable that is returned by its name is that.
void DriverUnit::return_value(const clang::ReturnStmt& of) {
  Frame& frame = frames_.back();
  const SourceLocation at = of.getBeginLoc();
  const std::size_t first = frame.temporaries.size();
  const VarDecl* same = of.getNRVOCandidate();
  const Meaning* variable = same == nullptr ? nullptr : find(*same);
  if (frame.object && variable != nullptr && variable->kind == Meaning::Kind::kSpot &&
      leaf_of(*frame.object) == Leaf::kRecord) {
    copy(variable->spot, *frame.object, at);
    frame.elided = variable->spot.path;
  } else if (frame.object) {
    initialize(*frame.object, of.getRetValue(), at);
  } else {
    const Value with = argument(of.getRetValue(), frame.function->getReturnType());
    frame.returned.push_back(with);
    if (!frame.result.empty()) emit(fmt::format("{} = {};", frame.result, known(with, true)), at);
  }
  end_temporaries(first, at);
}

// ---- blocks ----

void DriverUnit::block(llvm::ArrayRef<const Stmt*> list, SourceLocation end) {
  frames_.back().scopes.emplace_back();
  const bool was_atomic = in_atomic_;
  const bool was_not_atomic = not_atomic_;
  // A critical section that is in one block: lock(), and unlock() behind it; or what an if does
  // that has tried to get the lock.
  const bool by_guard = std::exchange(tried_by_guard_, false);
  if (const std::string tried = std::exchange(tried_, "");
      !tried.empty() && holding_.held.empty()) {
    if (by_guard || is_given_back(tried, list)) {
      begin_section(list.empty() ? end : list.front()->getBeginLoc());
      holding_.held.insert(shared_.at(tried).name);  // it does not end with locks inside of it
    } else {
      note_open_section(end);
    }
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::vector<const Expr*> locks = locked_by(list[i]);
    const bool is_section = std::ranges::all_of(locks, [&](const Expr* lock) {
      return is_given_back(spot(lock).path, list.drop_front(i + 1));
    });
    if (!locks.empty() && holding_.held.empty() && is_section)
      begin_section(list[i]->getBeginLoc());
    statement(list[i]);
  }
  leave_scope(end);
  in_atomic_ = was_atomic;
  not_atomic_ = was_not_atomic;
}

// A critical section that is none of those that are known to end.
void DriverUnit::note_open_section(SourceLocation at) {
  if (!holding_.held.empty() || in_atomic_ || not_atomic_) return;
  abstracted("critical sections that do not end where they begin are no transactions:", "", at);
}

void DriverUnit::begin_section(SourceLocation at) {
  if (in_atomic_ || not_atomic_) return;
  if (facts_.open_sections.contains(text_of(at))) return note_open_section(at);
  const std::string in = frames_.back().function->getQualifiedNameAsString();
  const std::string name = identifier("critical section in " + in);
  driver_.names[name] = "critical section in " + in;
  open("atomic " + name, at);
  in_atomic_ = true;
  ++frames_.back().scopes.back().opened;
  frames_.back().scopes.back().section = true;
  frames_.back().scopes.back().section_at = text_of(at);
}

void DriverUnit::acquire(const Spot& lock, SourceLocation at, bool shared) {
  if (lock.blurred) refuse(at, "which lock this is is not known", "Use a lock that has a name.");
  const bool is_plain = meeting_of(lock.type) == Meeting::kNone;
  const std::string name = is_plain ? declare(lock, at) : meeting(lock, at);
  note_open_section(at);
  holding_.held.insert(name);
  if (is_recursive_lock(lock.type)) recursive_.insert(name);
  if (is_recursive_lock(lock.type) && holding_.held.count(name) > 1) return;
  if (!is_plain) return acquire_shared_lock(lock, shared, at);
  emit(fmt::format("acquire {};", name), at);
}

void DriverUnit::release(const Spot& lock, SourceLocation at) {
  if (lock.blurred) refuse(at, "which lock this is is not known", "Use a lock that has a name.");
  const bool is_plain = meeting_of(lock.type) == Meeting::kNone;
  const std::string name = is_plain ? declare(lock, at) : meeting(lock, at);
  if (const auto one = holding_.held.find(name); one != holding_.held.end())
    holding_.held.erase(one);
  if (is_recursive_lock(lock.type) && holding_.held.contains(name)) return;
  if (is_plain) {
    emit(fmt::format("release {};", name), at);
  } else {
    release_shared_lock(lock, at);
  }
  Scope& scope = frames_.back().scopes.back();
  if (!holding_.held.empty()) return;
  // Who is called gives back what the caller has taken: that was no critical section of one piece.
  for (std::size_t i = 0; ending_ == 0 && i + 1 < frames_.size(); ++i) {
    for (const Scope& around : frames_[i].scopes) {
      if (around.section) facts_.open_sections.insert(around.section_at);
    }
  }
  if (!scope.section) return;
  close();
  --scope.opened;
  scope.section = false;
  in_atomic_ = false;
}

void DriverUnit::run_cleanup(const Cleanup& cleanup, SourceLocation at) {
  if (!cleanup.spot.path.empty() && cleanup.spot.path == frames_.back().elided) return;
  switch (cleanup.kind) {
    case Cleanup::Kind::kDestroy:
      ++ending_;
      destroy(cleanup.spot, at);
      --ending_;
      return;
    case Cleanup::Kind::kJoin:
      for (const Spot& thread : threads_in(cleanup.spot)) join(thread, at);
      return;
  }
}

// A thread, or those in a list, that are not joined yet.
std::vector<Spot> DriverUnit::threads_in(const Spot& spot) const {
  std::vector<Spot> all;
  for (const auto& [path, number] : threads_) {
    if (path == spot.path || path.starts_with(spot.path + "[")) all.push_back({.path = path});
  }
  return all;
}

// On the way out of all blocks but the first `scopes`: what is left stays open for what is written
// next. What guards hold then.
DriverUnit::Holding DriverUnit::leave(std::size_t scopes, SourceLocation at) {
  const std::vector<Scope> kept = frames_.back().scopes;
  const auto threads = threads_;
  const Holding holding = holding_;
  const bool was_atomic = in_atomic_;
  for (Scope& scope : frames_.back().scopes) scope.section = false;
  for (std::size_t i = kept.size(); i-- > scopes;) {
    for (std::size_t j = kept[i].cleanups.size(); j-- > 0;) run_cleanup(kept[i].cleanups[j], at);
  }
  frames_.back().scopes = kept;
  threads_ = threads;
  in_atomic_ = was_atomic;
  return std::exchange(holding_, holding);
}

// Nobody comes here behind a jump.
bool DriverUnit::is_reached() const {
  return out_->empty() || !out_->back().text.starts_with("goto ");
}

void DriverUnit::leave_scope(SourceLocation at) {
  const std::vector<Cleanup> cleanups = frames_.back().scopes.back().cleanups;
  const int opened = frames_.back().scopes.back().opened;
  const bool reached = is_reached();  // who has jumped has done it all
  std::vector<DriverLine> nowhere;
  std::vector<DriverLine>* const out = out_;
  if (!reached) out_ = &nowhere;
  for (std::size_t i = cleanups.size(); i-- > 0;) run_cleanup(cleanups[i], at);
  out_ = out;
  for (int i = 0; i < (reached ? frames_.back().scopes.back().opened : opened); ++i) close();
  frames_.back().scopes.pop_back();
}

void DriverUnit::turn(std::vector<Target>& targets, SourceLocation at) {
  if (targets.empty()) refuse(at, "where this leads is not known", "");
  Target& target = targets.back();
  Holding left = leave(target.scopes, at);
  std::swap(left, holding_);
  join_ways(target.holding, at);
  std::swap(left, holding_);
  emit(fmt::format("goto {};", target.label), at);
  target.wanted = true;
}

void DriverUnit::label(const std::string& name, SourceLocation at) { emit(name + ":", at); }

// ---- declarations ----

void DriverUnit::declaration(const VarDecl& variable) {
  const SourceLocation at = variable.getLocation();
  if (const clang::CallExpr* begin = scope_begin(variable)) {
    const bool is_atomic_scope = plain_name(*begin->getDirectCallee()) == "tomos_begin_atomic_";
    if (!is_atomic_scope) {
      not_atomic_ = true;
      return;
    }
    if (in_atomic_) return;
    const std::string name = identifier(scope_name(*begin));
    driver_.names[name] = scope_name(*begin);
    open("atomic " + name, at);
    in_atomic_ = true;
    ++frames_.back().scopes.back().opened;
    return;
  }
  if (variable.hasGlobalStorage()) {
    if (variable.isStaticLocal()) (void)global(variable, at);
    return;
  }
  auto& meanings = frames_.back().meanings;
  const Expr* init = variable.getInit();
  const clang::QualType type = variable.getType();
  if (type->isReferenceType()) {
    if (init == nullptr) return;
    meanings[&variable] = place(init);
    return;
  }
  const Leaf leaf = leaf_of(type);
  const int assignments = uses_.assigned.contains(&variable) ? uses_.assigned.at(&variable) : 0;
  const bool shared =
      uses_.escaped.contains(&variable) || (uses_.captured.contains(&variable) && assignments > 0);
  const bool scalar = leaf == Leaf::kTruth || leaf == Leaf::kNumber;
  const std::string key = fmt::format("{} at {}", variable.getNameAsString(), text_of(at));
  if (scalar && !shared && !is_atomic_type(type) && !is_flag_type(type)) {
    const Value first =
        init == nullptr ? Value::of(0) : as_type(value(init), init->getType(), type);
    if (assignments == 0 && first.kind != Value::Kind::kFormula) {
      meanings[&variable] = {.kind = Meaning::Kind::kValue, .value = first};
      return;
    }
    if (leaf == Leaf::kNumber) assigned(key, first);
    if (leaf == Leaf::kNumber && !is_kept(key)) {
      meanings[&variable] = {.kind = Meaning::Kind::kNothing, .name = key};
      return;
    }
    const std::string name = local(variable.getNameAsString(), type_of(key, leaf));
    meanings[&variable] = {
        .kind = Meaning::Kind::kLocal, .spot = {.path = key, .type = type}, .name = name};
    emit(fmt::format("{} = {};", name, known(first, leaf == Leaf::kTruth)), at);
    return;
  }
  const bool steady = !uses_.escaped.contains(&variable) && assignments == 0;
  if (leaf == Leaf::kPointer && init != nullptr &&
      (steady || is_function_object(type) || is_smart_pointer(type))) {
    meanings[&variable] = {.kind = Meaning::Kind::kValue, .value = value(init)};
    return;
  }
  if (is_unknown_meeting(type)) {
    refuse(at, fmt::format("{} is of a kind that is not known here", variable.getNameAsString()),
           "Threads, mutexes, conditions, semaphores, latches, barriers and atomics are.");
  }
  const std::string prefix = thread_.empty() ? "" : thread_ + " ";
  const Spot made_at{.path = unique(prefix + variable.getNameAsString()), .type = type};
  meanings[&variable] = {.kind = Meaning::Kind::kSpot, .spot = made_at};
  const bool is_destroyed =
      (leaf == Leaf::kRecord || leaf == Leaf::kArray || leaf == Leaf::kGuard) && is_ended(type);
  if (init != nullptr && is_destroyed && holding_.held.empty()) {
    // It may be a guard: then a critical section begins with it.
    std::vector<DriverLine> lines;
    std::vector<DriverLine>* const out = std::exchange(out_, &lines);
    const auto noted = driver_.abstracted;
    initialize(made_at, init, at);
    out_ = out;
    if (!holding_.held.empty()) {
      driver_.abstracted = noted;
      begin_section(at);
    }
    out_->insert(out_->end(), lines.begin(), lines.end());
  } else if (init != nullptr) {
    initialize(made_at, init, at);
  }
  if (is_destroyed) {
    frames_.back().scopes.back().cleanups.push_back(
        {.kind = Cleanup::Kind::kDestroy, .spot = made_at, .at = at});
  }
  if (is_joined_at_end(leaf == Leaf::kThread ? type : contained_type(type))) {
    frames_.back().scopes.back().cleanups.push_back(
        {.kind = Cleanup::Kind::kJoin, .spot = made_at, .at = at});
  }
}

// ---- branches ----

void DriverUnit::branch(const clang::IfStmt& of) {
  const SourceLocation at = of.getBeginLoc();
  if (const auto taken = compiled_part(of, context_)) {
    if (*taken != nullptr) statement(*taken);
    return;
  }
  frames_.back().scopes.emplace_back();
  const std::string by_guard = lock_tried_by_guard(of);
  tried_ = by_guard;
  statement(of.getInit());
  if (of.getConditionVariable() != nullptr) declaration(*of.getConditionVariable());
  const Expr* const lock = tried_lock(of.getCond());
  const std::string tried = lock == nullptr ? by_guard : spot(lock).path;
  tried_ = tried;
  const Value test = truth(of.getCond());
  tried_.clear();
  const auto alone = [&](const Stmt* body) {
    if (body == nullptr) return;
    if (llvm::isa<clang::CompoundStmt>(body)) return statement(body);
    const Stmt* const list[] = {body};
    block(list, body->getEndLoc());
  };
  if (test.is_number()) {
    alone(test.number != 0 ? of.getThen() : of.getElse());
  } else {
    if (!test.is_known()) {
      abstracted("conditions that depend on data go both ways:", "", of.getCond()->getExprLoc());
    }
    const Holding before = holding_;
    open(fmt::format("if ({})", known(test, true)), at);
    tried_ = tried;
    tried_by_guard_ = !by_guard.empty();
    alone(of.getThen());
    tried_.clear();
    close();
    const bool then_leaves =
        out_->size() >= 2 && (*out_)[out_->size() - 2].text.starts_with("goto ");
    Holding after_then = std::exchange(holding_, before);
    if (of.getElse() != nullptr) {
      open("else", of.getElse()->getBeginLoc());
      alone(of.getElse());
      close();
    }
    const bool else_leaves =
        of.getElse() != nullptr && (*out_)[out_->size() - 2].text.starts_with("goto ");
    if (!then_leaves && !else_leaves) join_ways(after_then, at);
    if (else_leaves) holding_ = std::move(after_then);
  }
  leave_scope(of.getEndLoc());
}

void DriverUnit::selection(const clang::SwitchStmt& of) {
  const SourceLocation at = of.getBeginLoc();
  const std::string end = fmt::format("after_{}", ++labels_);
  frames_.back().scopes.emplace_back();
  statement(of.getInit());
  if (of.getConditionVariable() != nullptr) declaration(*of.getConditionVariable());
  const Value chosen = value(of.getCond());
  std::vector<const clang::SwitchCase*> cases;
  for (const auto* one = of.getSwitchCaseList(); one != nullptr; one = one->getNextSwitchCase()) {
    cases.push_back(one);
  }
  std::ranges::reverse(cases);
  const std::string first = fmt::format("case_{}_", labels_);
  std::string otherwise = end;
  std::vector<std::pair<std::string, std::string>> tests;
  bool decided = false;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto* with = llvm::dyn_cast<clang::CaseStmt>(cases[i]);
    const std::string to = first + std::to_string(i);
    if (with == nullptr) {
      otherwise = to;
      continue;
    }
    const std::int64_t number = with->getLHS()->EvaluateKnownConstInt(context_).getExtValue();
    if (chosen.is_number()) {
      if (number != chosen.number) continue;
      decided = true;
      otherwise = to;
      break;
    }
    tests.emplace_back(chosen.kind == Value::Kind::kFormula
                           ? fmt::format("{} == {}", chosen.formula, number)
                           : "*",
                       to);
  }
  if (!chosen.is_known()) abstracted("conditions that depend on data go both ways:", "", at);
  if (!decided) {
    for (const auto& [test, to] : tests) {
      open(fmt::format("if ({})", test), at);
      emit(fmt::format("goto {};", to), at);
      close();
    }
  }
  emit(fmt::format("goto {};", otherwise), at);
  Frame& frame = frames_.back();
  frame.breaks.push_back({.label = end, .scopes = frame.scopes.size(), .wanted = true});
  const auto* body = llvm::dyn_cast<clang::CompoundStmt>(of.getBody());
  if (body == nullptr) refuse(at, "the body of this switch is no block", "Write braces.");
  frame.scopes.emplace_back();
  std::size_t number = 0;
  const Holding before = holding_;
  for (const Stmt* one : body->body()) {
    while (const auto* marked = llvm::dyn_cast<clang::SwitchCase>(one)) {
      arrive(before, is_reached(), marked->getBeginLoc());
      label(first + std::to_string(number++), marked->getBeginLoc());
      one = marked->getSubStmt();
    }
    statement(one);
  }
  if (number != cases.size())
    refuse(at, "a case is inside of another statement", "Put it outside.");
  bool reached = is_reached();
  leave_scope(of.getEndLoc());
  if (otherwise == end) {
    arrive(before, reached, of.getEndLoc());
    reached = true;
  }
  arrive(frames_.back().breaks.back().holding, reached, of.getEndLoc());
  frames_.back().breaks.pop_back();
  label(end, of.getEndLoc());
  leave_scope(of.getEndLoc());
}

}  // namespace tomos::cpp
