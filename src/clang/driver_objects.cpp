// Objects that expressions of a driver make: lambdas with what they capture, temporary ones, what
// `new` makes.
#include <fmt/format.h>

#include "clang/driver_types.h"
#include "clang/drivers.h"
#include "clang/unit.h"

namespace tomos::cpp {

using clang::Expr;
using clang::QualType;
using clang::SourceLocation;
using clang::VarDecl;

Value DriverUnit::closure(const clang::LambdaExpr& of) {
  const SourceLocation at = of.getBeginLoc();
  auto made_closure = std::make_shared<Closure>();
  made_closure->lambda = &of;
  made_closure->self = frames_.back().self;
  auto with = of.capture_init_begin();
  for (const clang::LambdaCapture& capture : of.captures()) {
    const Expr* init = *with++;
    if (!capture.capturesVariable()) continue;
    if (const auto* part = llvm::dyn_cast<clang::BindingDecl>(capture.getCapturedVar())) {
      if (capture.getCaptureKind() != clang::LCK_ByRef) {
        refuse(capture.getLocation(), "a structured binding is captured by copy",
               "Put it into a variable first.");
      }
      const auto* whole = llvm::cast<VarDecl>(part->getDecomposedDecl());
      if (const Meaning* outer = find(*whole)) made_closure->captured[whole] = *outer;
      continue;
    }
    const auto* captured = llvm::cast<VarDecl>(capture.getCapturedVar());
    if (capture.getCaptureKind() != clang::LCK_ByRef && keeps_lock(captured->getType())) {
      refuse(capture.getLocation(), "when the lock that a lambda keeps is given back is not known",
             "Capture a reference to the guard.");
    }
    Meaning& meaning = made_closure->captured[captured];
    if (captured->isInitCapture()) {
      const Expr* from = captured->getInit();
      const Leaf leaf = leaf_of(captured->getType());
      const bool is_reference = captured->getType()->isReferenceType();
      meaning =
          is_reference ? place(from) : Meaning{.kind = Meaning::Kind::kValue, .value = value(from)};
      if (!is_reference && (leaf == Leaf::kThread || leaf == Leaf::kMeeting)) {  // moved here
        Spot own = meaning.value.spot;
        if (meaning.value.kind != Value::Kind::kPointer) {
          own = {.path = unique(captured->getNameAsString()), .type = captured->getType()};
          write(own, meaning.value, at);
        }
        meaning = {.kind = Meaning::Kind::kSpot, .spot = own};
      }
    } else if (const Meaning* outer = find(*captured)) {
      meaning = *outer;
    } else if (init != nullptr) {
      meaning = place(init);
    }
    const bool by_copy = capture.getCaptureKind() == clang::LCK_ByCopy;
    const bool is_spot = meaning.kind == Meaning::Kind::kSpot;
    if (by_copy && is_spot && !captured->isInitCapture()) {
      const Leaf leaf = leaf_of(meaning.spot);
      if (leaf == Leaf::kTruth || leaf == Leaf::kNumber || leaf == Leaf::kPointer) {
        meaning = {.kind = Meaning::Kind::kValue, .value = read(meaning.spot, at)};
      } else {
        const Spot own{.path = unique(thread_ + " copy of " + meaning.spot.path),
                       .type = meaning.spot.type};
        copy(meaning.spot, own, at);
        meaning = {.kind = Meaning::Kind::kSpot, .spot = own};
      }
    }
    // A variable of this thread is not there for another one: its value now is kept.
    const bool is_formula =
        meaning.kind == Meaning::Kind::kLocal ||
        (meaning.kind == Meaning::Kind::kValue && meaning.value.kind == Value::Kind::kFormula);
    if (is_formula) {
      const Spot own{.path = unique(thread_ + " " + captured->getNameAsString()),
                     .type = captured->getType().getNonReferenceType()};
      write(own, load(meaning, at), at);
      meaning = {.kind = Meaning::Kind::kSpot, .spot = own};
    }
  }
  return {.kind = Value::Kind::kCallable,
          .function = of.getCallOperator(),
          .closure = std::move(made_closure)};
}

// An object that an expression makes, in a place of its own.
Value DriverUnit::made(const Expr* of) {
  const Spot own{.path = unique(thread_ + " temporary"), .type = of->getType()};
  initialize(own, of, of->getExprLoc());
  keep_temporary(own);
  return Value::leading_to(own);
}

Value DriverUnit::allocate(const clang::CXXNewExpr& of) {
  const SourceLocation at = of.getBeginLoc();
  if (loops_ > 0) {
    refuse(at, "an object is made in a loop, nobody knows how often",
           "Make it before, or give the loop a constant bound of at most 8.");
  }
  const QualType type = of.getAllocatedType();
  const Spot own{.path = unique(fmt::format("new {}", type.getUnqualifiedType().getAsString())),
                 .type = type};
  if (of.isArray()) return Value::leading_to({.path = own.path, .type = type, .blurred = true});
  initialize_all(own, at);
  if (of.hasInitializer()) {
    initialize(own, of.getInitializer(), at);
  } else if (of.getConstructExpr() != nullptr && leaf_of(own) == Leaf::kRecord) {
    construct(own, *of.getConstructExpr());
  }
  return Value::leading_to(own);
}

}  // namespace tomos::cpp
