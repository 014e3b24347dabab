// Loops of a driver: those with constant bounds are written out, the others run as often as their
// condition says, or any number of times if it depends on data.
#include <fmt/format.h>

#include "clang/driver_types.h"
#include "clang/drivers.h"
#include "clang/unit.h"

namespace tomos::cpp {

using clang::Expr;
using clang::SourceLocation;
using clang::Stmt;
using clang::VarDecl;

namespace {

constexpr std::size_t kMostRounds = 8;
constexpr std::size_t kMostRoundsWithThreads = 64;

const VarDecl* counter_of(const Expr* of) {
  const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(of->IgnoreParenImpCasts());
  return name == nullptr ? nullptr : llvm::dyn_cast<VarDecl>(name->getDecl());
}

}  // namespace

void DriverUnit::loop(const Stmt* init, const Expr* condition, const Expr* step, const Stmt* body,
                      bool body_first, SourceLocation at) {
  frames_.back().scopes.emplace_back();
  statement(init);
  const std::size_t number = ++labels_;
  const std::string end = fmt::format("after_{}", number);
  const std::string again = fmt::format("next_{}", number);
  bool end_wanted = false;
  std::optional<Holding> left;  // of those who leave it
  const Holding before = holding_;
  const auto test = [&] {
    if (condition == nullptr) return true;
    const Value holds = truth(condition);
    if (holds.is_number() && holds.number != 0) return true;
    end_wanted = true;
    join_ways(left, condition->getExprLoc());
    if (!holds.is_number()) {
      if (!holds.is_known())
        abstracted("loops that depend on data run any number of times:", "", at);
      const std::string text = holds.is_known() ? "!" + known(holds, true) : "*";
      open(fmt::format("if ({})", text), condition->getExprLoc());
    }
    emit(fmt::format("goto {};", end), condition->getExprLoc());
    if (!holds.is_number()) close();
    return true;
  };
  open("while (true)", at);
  ++loops_;
  if (!body_first) test();
  Frame& frame = frames_.back();
  frame.breaks.push_back({.label = end, .scopes = frame.scopes.size()});
  frame.continues.push_back({.label = again, .scopes = frame.scopes.size()});
  const Stmt* const list[] = {body};
  block(list, body->getEndLoc());
  arrive(frames_.back().continues.back().holding, is_reached(), at);
  if (frames_.back().continues.back().wanted) label(again, at);
  if (step != nullptr) statement(step);
  if (body_first) test();
  if (is_reached()) join_ways(before, at, true);
  end_wanted |= frames_.back().breaks.back().wanted;
  arrive(left, false, at);
  arrive(frames_.back().breaks.back().holding, left.has_value(), at);
  frames_.back().breaks.pop_back();
  frames_.back().continues.pop_back();
  --loops_;
  close();
  if (end_wanted) label(end, body->getEndLoc());
  leave_scope(body->getEndLoc());
}

bool DriverUnit::makes_threads(const Stmt* of) const {
  if (of == nullptr) return false;
  if (const auto* expr = llvm::dyn_cast<Expr>(of)) {
    const clang::QualType type = expr->getType();
    const clang::QualType inside = contained_type(type.getNonReferenceType());
    if (is_thread_type(type) || (!inside.isNull() && is_thread_type(inside))) return true;
  }
  for (const Stmt* child : of->children()) {
    if (makes_threads(child)) return true;
  }
  return false;
}

bool DriverUnit::unroll(const clang::ForStmt& of) {
  const auto* declared = llvm::dyn_cast_or_null<clang::DeclStmt>(of.getInit());
  const auto* counter = declared != nullptr && declared->isSingleDecl()
                            ? llvm::dyn_cast<VarDecl>(declared->getSingleDecl())
                            : nullptr;
  const auto* test = llvm::dyn_cast_or_null<clang::BinaryOperator>(of.getCond());
  const auto* step = llvm::dyn_cast_or_null<clang::UnaryOperator>(of.getInc());
  if (counter == nullptr || counter->getInit() == nullptr || test == nullptr || step == nullptr ||
      !step->isIncrementDecrementOp() || counter_of(step->getSubExpr()) != counter ||
      counter_of(test->getLHS()) != counter || uses_.escaped.contains(counter) ||
      uses_.captured.contains(counter) || uses_.assigned[counter] != 1) {
    return false;
  }
  std::vector<DriverLine> lines;
  std::vector<DriverLine>* const out = std::exchange(out_, &lines);
  // What is known only for now may be another in the next round.
  const bool was = std::exchange(prologue_, false);
  const Value first = value(counter->getInit());
  const Value bound = value(test->getRHS());
  prologue_ = was;
  out_ = out;
  if (!lines.empty() || !first.is_number() || !bound.is_number()) return false;
  const auto goes_on = [&](std::int64_t i) {
    switch (test->getOpcode()) {
      case clang::BO_LT:
        return i < bound.number;
      case clang::BO_LE:
        return i <= bound.number;
      case clang::BO_GT:
        return i > bound.number;
      case clang::BO_GE:
        return i >= bound.number;
      case clang::BO_NE:
        return i != bound.number;
      default:
        return false;
    }
  };
  const std::size_t most = makes_threads(of.getBody()) ? kMostRoundsWithThreads : kMostRounds;
  std::vector<std::int64_t> rounds;
  for (std::int64_t i = first.number; goes_on(i); i += step->isIncrementOp() ? 1 : -1) {
    if (rounds.size() == most) return false;
    rounds.push_back(i);
  }
  const std::size_t number = ++labels_;
  const std::string end = fmt::format("after_{}", number);
  bool end_wanted = false;
  std::optional<Holding> left;  // of those who have left it
  for (const std::int64_t i : rounds) {
    Frame& frame = frames_.back();
    frame.meanings[counter] = {.kind = Meaning::Kind::kValue, .value = Value::of(i)};
    const std::string again = fmt::format("next_{}_{}", number, i < 0 ? -i : i);
    frame.breaks.push_back({.label = end, .scopes = frame.scopes.size()});
    frame.continues.push_back({.label = again, .scopes = frame.scopes.size()});
    const Stmt* const list[] = {of.getBody()};
    block(list, of.getEndLoc());
    arrive(frames_.back().continues.back().holding, is_reached(), of.getEndLoc());
    if (frames_.back().continues.back().wanted) label(again, of.getEndLoc());
    end_wanted |= frames_.back().breaks.back().wanted;
    leave_round(left, of.getEndLoc());
    frames_.back().breaks.pop_back();
    frames_.back().continues.pop_back();
  }
  arrive(left, is_reached(), of.getEndLoc());
  if (end_wanted) label(end, of.getEndLoc());
  return true;
}

void DriverUnit::range_loop(const clang::CXXForRangeStmt& of) {
  const SourceLocation at = of.getBeginLoc();
  frames_.back().scopes.emplace_back();
  statement(of.getInit());
  const Spot range = spot(of.getRangeInit());
  const VarDecl& variable = *of.getLoopVariable();
  const Leaf leaf = leaf_of(range);
  std::size_t count = 0;
  if (leaf == Leaf::kList) {
    count = counts_.contains(range.path) ? counts_.at(range.path) : 0;
  } else if (leaf == Leaf::kArray && !facts_.blurred.contains(range.path)) {
    count = *array_size(range.type, context_);
  }
  const bool known_count = leaf == Leaf::kList || (count > 0 && count <= kMostRoundsWithThreads);
  const std::size_t number = ++labels_;
  const std::string end = fmt::format("after_{}", number);
  bool end_wanted = false;
  std::optional<Holding> left;  // of those who have left it
  const auto round = [&](const Spot& one, const std::string& again) {
    Frame& frame = frames_.back();
    frame.scopes.emplace_back();
    if (variable.getType()->isReferenceType()) {
      frame.meanings[&variable] = {.kind = Meaning::Kind::kSpot, .spot = one};
    } else {
      frame.meanings[&variable] = parameter(variable, read(one, at), at);
    }
    frames_.back().breaks.push_back({.label = end, .scopes = frames_.back().scopes.size()});
    frames_.back().continues.push_back({.label = again, .scopes = frames_.back().scopes.size()});
    const Stmt* const list[] = {of.getBody()};
    block(list, of.getEndLoc());
    arrive(frames_.back().continues.back().holding, is_reached(), of.getEndLoc());
    if (frames_.back().continues.back().wanted) label(again, of.getEndLoc());
    end_wanted |= frames_.back().breaks.back().wanted;
    leave_round(left, of.getEndLoc());
    frames_.back().breaks.pop_back();
    frames_.back().continues.pop_back();
    leave_scope(of.getEndLoc());
  };
  if (known_count) {
    for (std::size_t i = 0; i < count; ++i) {
      round(element(range, Value::of(static_cast<std::int64_t>(i)), at),
            fmt::format("next_{}_{}", number, i));
    }
  } else {
    abstracted("loops that depend on data run any number of times:", "", at);
    (void)read(range, at);
    open("while (*)", at);
    ++loops_;
    const Holding before = holding_;
    round({.path = range.path, .type = variable.getType().getNonReferenceType(), .blurred = true},
          fmt::format("next_{}", number));
    if (is_reached()) join_ways(before, at, true);
    holding_ = before;
    --loops_;
    close();
  }
  arrive(left, is_reached(), of.getEndLoc());
  if (end_wanted) label(end, of.getEndLoc());
  leave_scope(of.getEndLoc());
}

}  // namespace tomos::cpp
