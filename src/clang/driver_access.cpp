// What a driver reads and writes: scalars, parts of objects, objects as a whole.
#include <fmt/format.h>

#include "clang/driver_types.h"
#include "clang/drivers.h"
#include "clang/unit.h"

namespace tomos::cpp {

using clang::Expr;
using clang::SourceLocation;

namespace {

constexpr std::uint64_t kMostParts = 64;  // of an array, one by one

}  // namespace

std::string DriverUnit::known(const Value& value, bool truth) {
  if (value.is_number()) {
    if (truth) return value.number != 0 ? "true" : "false";
    return std::to_string(value.number);
  }
  return value.kind == Value::Kind::kFormula ? value.formula : "*";
}

Value DriverUnit::read(const Spot& spot, SourceLocation at) {
  const Leaf leaf = leaf_of(spot);
  switch (leaf) {
    case Leaf::kPointer:
      if (!facts_.unstable.contains(spot.path)) {
        const auto known_one = pointers_.find(spot.path);
        return known_one == pointers_.end() ? Value{} : known_one->second;
      }
      break;
    case Leaf::kThread: {
      if (const auto promise = promises_.find(spot.path); promise != promises_.end()) {
        return {.kind = Value::Kind::kThread, .number = -1, .spot = promise->second};
      }
      const auto known_one = threads_.find(spot.path);
      if (known_one == threads_.end()) return {};
      return {.kind = Value::Kind::kThread, .number = static_cast<std::int64_t>(known_one->second)};
    }
    case Leaf::kRecord:
    case Leaf::kArray:
    case Leaf::kList:
    case Leaf::kMeeting:
    case Leaf::kGuard:
      return Value::leading_to(spot);  // an object is known by where it is
    case Leaf::kLock:
    case Leaf::kCondition:
      return {};
    case Leaf::kTruth:
    case Leaf::kNumber:
    case Leaf::kData:
      break;
  }
  const std::string name = declare(spot, at);
  const std::string type = type_of(spot.path, leaf);
  const bool is_kept_one = leaf == Leaf::kTruth || (leaf == Leaf::kNumber && is_kept(spot.path));
  if (prologue_) {  // nobody has written it but the initial value
    const std::string& initial = shared_.at(spot.path).initial;
    if (!is_kept_one || initial == "*") return {};
    if (initial.empty() || initial == "false") return Value::of(0);
    return Value::of(initial == "true" ? 1 : std::stoll(initial));
  }
  const std::string to = temporary(type);
  emit(fmt::format("{} = {};", to, name), at);
  if (!is_kept_one) return {};
  return Value::of(to);
}

void DriverUnit::write(const Spot& spot, const Value& value, SourceLocation at) {
  const Leaf leaf = leaf_of(spot);
  switch (leaf) {
    case Leaf::kPointer: {
      const bool first = initialized_.insert(spot.path).second || prologue_;  // nobody saw it
      const auto before = pointers_.find(spot.path);
      const bool same = before != pointers_.end() && before->second.kind == value.kind &&
                        before->second.spot == value.spot && before->second.number == value.number;
      if (!first && !same) facts_.unstable.insert(spot.path);
      pointers_[spot.path] = value;
      if (!facts_.unstable.contains(spot.path)) return;
      break;
    }
    case Leaf::kThread:
      promises_.erase(spot.path);
      if (value.kind == Value::Kind::kThread && value.number < 0) {
        promises_[spot.path] = value.spot;
      } else if (value.kind == Value::Kind::kThread) {
        threads_[spot.path] = static_cast<std::size_t>(value.number);
      } else {
        threads_.erase(spot.path);
      }
      return;
    case Leaf::kRecord:
    case Leaf::kArray:
    case Leaf::kList:
      if (value.kind == Value::Kind::kPointer) copy(value.spot, spot, at);
      return;
    case Leaf::kLock:
    case Leaf::kCondition:
      return;
    case Leaf::kMeeting:
      if (value.kind == Value::Kind::kPointer && meeting_of(spot.type) == Meeting::kPromise) {
        refuse(at, fmt::format("{} is moved into another promise", value.spot.path),
               "Hand it to a function or a thread, or on a reference to it.");
      }
      return make_meeting(spot, value, at);
    case Leaf::kGuard:
      if (value.kind != Value::Kind::kPointer) {
        refuse(at, "where this guard comes from is not known",
               "Make it of a lock, where it is used.");
      }
      return assign_guard(value.spot, spot, at);
    case Leaf::kNumber:
      assigned(spot.path, value);
      break;
    case Leaf::kTruth:
    case Leaf::kData:
      break;
  }
  const std::string name = declare(spot, at);
  const bool is_truth = leaf == Leaf::kTruth;
  const bool is_kept_one = is_truth || (leaf == Leaf::kNumber && is_kept(spot.path));
  const std::string text = is_kept_one ? known(value, is_truth) : "0";
  if (prologue_ && value.kind != Value::Kind::kFormula) {
    shared_.at(spot.path).initial = is_kept_one ? text : "";
    return;
  }
  emit(fmt::format("{} = {};", name, text), at);
}

// What is given to somebody unknown.
void DriverUnit::touch(const Spot& spot, SourceLocation at) {
  const Leaf leaf = leaf_of(spot);
  if (leaf == Leaf::kGuard) {
    refuse(at, "what is done to the guard that is given away here is not known",
           "Give it to functions of your own, which can be followed.");
  }
  if (leaf == Leaf::kLock || leaf == Leaf::kCondition || leaf == Leaf::kMeeting ||
      leaf == Leaf::kThread || leaf == Leaf::kList) {
    return;
  }
  if (leaf == Leaf::kRecord || leaf == Leaf::kArray) {
    if (const clang::RecordDecl* record = spot.type->getAsRecordDecl();
        leaf == Leaf::kRecord && record->getDefinition() != nullptr) {
      for (const clang::FieldDecl* one : record->getDefinition()->fields()) {
        touch(field(spot, *one), at);
      }
    }
    const auto size = array_size(spot.type, context_);
    for (std::uint64_t i = 0; leaf == Leaf::kArray && i < std::min(*size, kMostParts); ++i) {
      touch(element(spot, Value::of(static_cast<std::int64_t>(i)), at), at);
    }
    return;
  }
  (void)read(spot, at);
  write(spot, {}, at);
}

void DriverUnit::copy(const Spot& from, const Spot& to, SourceLocation at) {
  const clang::RecordDecl* record = from.type->getAsRecordDecl();
  if (leaf_of(from) == Leaf::kRecord && leaf_of(to) == Leaf::kRecord &&
      record->getDefinition() != nullptr) {
    if (const auto* cxx = llvm::dyn_cast<clang::CXXRecordDecl>(record->getDefinition());
        cxx != nullptr && cxx->getNumBases() != 0) {
      refuse(at, "an object of a class with bases is copied", "Give it by reference.");
    }
    for (const clang::FieldDecl* one : record->getDefinition()->fields()) {
      copy(field(from, *one), field(to, *one), at);
    }
    return;
  }
  if (const auto size = array_size(from.type, context_);
      size && leaf_of(from) == Leaf::kArray && *size <= kMostParts) {
    for (std::uint64_t i = 0; i < *size; ++i) {
      const Value index = Value::of(static_cast<std::int64_t>(i));
      copy(element(from, index, at), element(to, index, at), at);
    }
    return;
  }
  if (leaf_of(from) == Leaf::kRecord || leaf_of(from) == Leaf::kArray) {
    touch(from, at);
    touch(to, at);
    return;
  }
  write(to, read(from, at), at);
}

Spot DriverUnit::field(const Spot& of, const clang::FieldDecl& field) {
  if (of.blurred) return {.path = of.path, .type = field.getType(), .blurred = true};
  const auto* owner = of.type->getAsRecordDecl();
  const bool inherited =
      owner != nullptr && owner->getCanonicalDecl() != field.getParent()->getCanonicalDecl();
  std::string name = field.getNameAsString();
  // A field of a base may have the name of one of our own.
  if (inherited) name = field.getParent()->getNameAsString() + "::" + name;
  return {.path = of.path + "." + name, .type = field.getType()};
}

Spot DriverUnit::element(const Spot& of, const Value& index, SourceLocation at) {
  const clang::QualType inside = contained_type(of.type);
  const clang::QualType type = inside.isNull() ? of.type : inside;
  const auto size = array_size(of.type, context_);
  const bool is_vector_of_threads = leaf_of(of) == Leaf::kList;
  const bool outside = size && index.is_number() &&
                       (index.number < 0 || static_cast<std::uint64_t>(index.number) >= *size);
  if (outside) refuse(at, "an element outside of the array is used", "");
  const bool separate =
      !of.blurred && (is_vector_of_threads || (size && !facts_.blurred.contains(of.path)));
  if (separate && index.is_number()) {
    return {.path = fmt::format("{}[{}]", of.path, index.number), .type = type};
  }
  const Leaf leaf = leaf_of(type);
  if (leaf == Leaf::kLock || leaf == Leaf::kCondition || leaf == Leaf::kMeeting ||
      leaf == Leaf::kThread || leaf == Leaf::kPointer) {
    refuse(at, fmt::format("which element of {} this is is not known", of.path),
           "Use constants, or what a loop with constant bounds counts.");
  }
  facts_.blurred.insert(of.path);
  return {.path = of.path, .type = type, .blurred = true};
}

// Everything in it is new: zero if it is static, anything if it is not said.
void DriverUnit::initialize_all(const Spot& spot, SourceLocation at) {
  const Leaf leaf = leaf_of(spot);
  if (leaf == Leaf::kRecord) {
    const clang::RecordDecl* record = spot.type->getAsRecordDecl()->getDefinition();
    if (record == nullptr) return;
    for (const clang::FieldDecl* one : record->fields()) initialize_all(field(spot, *one), at);
    return;
  }
  const auto size = array_size(spot.type, context_);
  if (leaf == Leaf::kArray && size && *size <= kMostParts && !facts_.blurred.contains(spot.path)) {
    for (std::uint64_t i = 0; i < *size; ++i) {
      initialize_all(element(spot, Value::of(static_cast<std::int64_t>(i)), at), at);
    }
    return;
  }
  // A pointer that is null in the beginning and leads somewhere later is one that changes.
  const bool is_null = leaf == Leaf::kPointer && prologue_ && !spot.type->isReferenceType();
  if (leaf == Leaf::kGuard) return new_guard(spot, at);
  if (leaf == Leaf::kTruth || leaf == Leaf::kNumber || is_null) write(spot, Value::of(0), at);
}

// A list of functions or threads, from braces.
void DriverUnit::fill(const Spot& list, const Expr* with, SourceLocation at) {
  if (const auto* elements = llvm::dyn_cast<clang::InitListExpr>(with)) {
    for (const Expr* one : elements->inits()) {
      const auto number = static_cast<std::int64_t>(counts_[list.path]++);
      initialize(element(list, Value::of(number), at), one, at);
    }
    return;
  }
  if (const auto* made_by = llvm::dyn_cast<clang::CXXConstructExpr>(with);
      made_by != nullptr && made_by->getNumArgs() > 0 &&
      made_by->getConstructor()->isCopyOrMoveConstructor()) {
    refuse(at, "a list of functions or threads is copied", "Hand on a reference to it.");
  }
  for (const clang::Stmt* child : with->children()) {
    if (const auto* inner = llvm::dyn_cast_or_null<Expr>(child)) fill(list, inner, at);
  }
}

void DriverUnit::construct(const Spot& spot, const clang::CXXConstructExpr& of) {
  const SourceLocation at = of.getBeginLoc();
  const clang::CXXConstructorDecl& constructor = *of.getConstructor();
  if (constructor.isCopyOrMoveConstructor() && !constructor.isUserProvided() &&
      of.getNumArgs() >= 1) {
    return copy(this->spot(of.getArg(0)), spot, at);
  }
  const auto* definition =
      llvm::dyn_cast_or_null<clang::CXXConstructorDecl>(constructor.getDefinition());
  if (definition == nullptr) {
    if (of.getNumArgs() == 0 && !constructor.isUserProvided()) {
      // What a default constructor that nobody wrote does: initializers of the members.
      const clang::CXXRecordDecl* record = constructor.getParent()->getDefinition();
      for (const clang::FieldDecl* one : record->fields()) {
        if (one->getInClassInitializer() != nullptr) {
          initialize(field(spot, *one), one->getInClassInitializer(), at);
        } else if (const Leaf leaf = leaf_of(field(spot, *one));
                   leaf == Leaf::kRecord || leaf == Leaf::kGuard) {
          initialize_all(field(spot, *one), at);
        }
      }
      return;
    }
    refuse(at, fmt::format("{} has no body here", constructor.getQualifiedNameAsString()),
           "Put the driver and what it tests into one source file.");
  }
  std::vector<Value> arguments;
  for (unsigned i = 0; i < of.getNumArgs(); ++i) {
    const clang::QualType type =
        i < definition->getNumParams() ? definition->getParamDecl(i)->getType() : clang::QualType();
    arguments.push_back(argument(of.getArg(i), type));
  }
  invoke(*definition, spot, arguments, nullptr, at);
}

void DriverUnit::initialize(const Spot& spot, const Expr* with, SourceLocation at) {
  if (with == nullptr) return;
  if (const auto* whole = llvm::dyn_cast<clang::FullExpr>(with)) {
    const std::size_t first = frames_.back().temporaries.size();
    initialize(spot, whole->getSubExpr(), at);
    return end_temporaries(first, at);
  }
  if (const auto* fallback = llvm::dyn_cast<clang::CXXDefaultInitExpr>(with)) {
    return initialize(spot, fallback->getExpr(), at);
  }
  const Leaf leaf = leaf_of(spot);
  const Expr* plain = with->IgnoreImplicit();
  if (is_unknown_meeting(spot.type)) {
    refuse(at, fmt::format("{} is of a kind that is not known here", spot.path),
           "Threads, mutexes, conditions, semaphores, latches, barriers and atomics are.");
  }
  const auto* list = llvm::dyn_cast<clang::InitListExpr>(plain);
  if (list != nullptr && list->isSemanticForm() == false && list->getSemanticForm() != nullptr) {
    list = list->getSemanticForm();
  }
  if (spot.type->isReferenceType()) {
    pointers_[spot.path] = Value::leading_to(this->spot(with));
    return;
  }
  switch (leaf) {
    case Leaf::kLock:
    case Leaf::kCondition:
      return;
    case Leaf::kList:
      return fill(spot, with, at);
    case Leaf::kMeeting: {
      const auto* made_of = llvm::dyn_cast<clang::CXXConstructExpr>(plain);
      if (made_of != nullptr && made_of->getNumArgs() > 1 &&
          !llvm::isa<clang::CXXDefaultArgExpr>(made_of->getArg(1))) {
        const Expr* callee = made_of->getArg(1);
        completions_[spot.path] = callee->isGLValue() && !callee->getType()->isFunctionType()
                                      ? load(place(callee), at)
                                      : value(callee);
      }
      if (made_of != nullptr && made_of->getNumArgs() > 0) {
        make_meeting(spot, value(made_of->getArg(0)), at);
      }
      return;
    }
    case Leaf::kArray: {
      if (list == nullptr) return;
      // The inner braces of std::array are its only field.
      const auto* inner = list->getNumInits() == 1
                              ? llvm::dyn_cast<clang::InitListExpr>(list->getInit(0))
                              : nullptr;
      if (inner != nullptr && spot.type->isRecordType()) list = inner;
      for (unsigned i = 0; i < list->getNumInits() && i < kMostParts; ++i) {
        initialize(element(spot, Value::of(i), at), list->getInit(i), at);
      }
      return;
    }
    case Leaf::kRecord: {
      if (list != nullptr && list->getNumInits() == 1 && list->isTransparent()) {
        return initialize(spot, list->getInit(0), at);
      }
      if (list != nullptr) {
        const auto* cxx = spot.type->getAsCXXRecordDecl();
        if (cxx != nullptr && cxx->getNumBases() != 0) {
          refuse(at, "an aggregate with bases is made", "Give the class a constructor.");
        }
        unsigned i = 0;
        for (const clang::FieldDecl* one :
             spot.type->getAsRecordDecl()->getDefinition()->fields()) {
          if (i >= list->getNumInits() || one->isUnnamedBitField()) break;
          initialize(field(spot, *one), list->getInit(i++), at);
        }
        return;
      }
      if (const auto* made_by = llvm::dyn_cast<clang::CXXConstructExpr>(plain)) {
        return construct(spot, *made_by);
      }
      const Value from = value(with);
      if (from.kind != Value::Kind::kPointer) {
        refuse(at, "where this object comes from is not known", "");
      }
      copy(from.spot, spot, at);
      forget_temporary(from.spot);  // it is the same object
      return;
    }
    case Leaf::kGuard:
      return make_guard(spot, with, at);
    case Leaf::kThread:
    case Leaf::kTruth:
    case Leaf::kNumber:
    case Leaf::kPointer:
    case Leaf::kData:
      break;
  }
  const auto* made_by = llvm::dyn_cast<clang::CXXConstructExpr>(plain);
  if (made_by != nullptr && leaf != Leaf::kThread && leaf != Leaf::kPointer) {
    // An atomic, or a container: what it is given.
    const bool one = made_by->getNumArgs() >= 1 && is_atomic_type(spot.type);
    if (is_atomic_type(spot.type)) {
      return write(spot,
                   one ? as_type(value(made_by->getArg(0)), made_by->getArg(0)->getType(),
                                 without_atomic(spot.type))
                       : Value::of(0),
                   at);
    }
    for (const Expr* argument_of : made_by->arguments()) (void)value(argument_of);
    return write(spot, {}, at);
  }
  if (list != nullptr) {
    if (list->getNumInits() == 1) return initialize(spot, list->getInit(0), at);
    return write(spot, list->getNumInits() == 0 ? Value::of(0) : Value{}, at);
  }
  write(spot, as_type(value(with), with->getType(), without_atomic(spot.type)), at);
}

// One step each.
Value DriverUnit::atomic_operation(const Spot& spot, llvm::StringRef name,
                                   const clang::CallExpr& of,
                                   llvm::ArrayRef<const Expr*> arguments) {
  const SourceLocation at = of.getExprLoc();
  const Leaf leaf = leaf_of(spot);
  const clang::QualType type = without_atomic(spot.type);
  const bool is_truth = leaf == Leaf::kTruth;
  const auto given = [&](std::size_t i) {
    return as_type(value(arguments[i]), arguments[i]->getType(), type);
  };
  const auto is_kept_one = [&] {
    return is_truth || (leaf == Leaf::kNumber && is_kept(spot.path));
  };
  if (name == "load" || name == "test" || name == "read") return read(spot, at);
  if (name == "store" || name == "operator=" || name == "clear") {
    const Value with = name == "clear" ? Value::of(0) : given(0);
    write(spot, with, at);
    return with;
  }
  if (name == "exchange" || name == "test_and_set") {
    const Value with = name == "exchange" ? given(0) : Value::of(1);
    if (leaf == Leaf::kNumber) assigned(spot.path, with);
    const std::string variable = declare(spot, at);
    const std::string old = temporary(type_of(spot.path, leaf));
    emit(fmt::format("{}, {} = {}, {};", old, variable, variable,
                     is_kept_one() ? known(with, is_truth) : "0"),
         at);
    return is_kept_one() ? Value::of(old) : Value{};
  }
  if (name.starts_with("compare_exchange") && arguments.size() >= 2) {
    const Meaning expected = place(arguments[0]);
    const Value with = given(1);
    const Value wanted = load(expected, at);
    if (leaf == Leaf::kNumber) assigned(spot.path, with);
    const std::string variable = declare(spot, at);
    const std::string old = temporary(type_of(spot.path, leaf));
    const std::string done = temporary("bool");
    if (!is_kept_one() || !wanted.is_known()) {
      // It may or may not fit.
      open("if (*)", at);
      emit(fmt::format("{}, {} = {}, {};", old, variable, variable,
                       is_kept_one() ? known(with, is_truth) : "0"),
           at);
      emit(done + " = true;", at);
      close();
      open("else", at);
      emit(fmt::format("{} = {};", old, variable), at);
      emit(done + " = false;", at);
      close();
      abstracted("both outcomes are possible, because of data, of", "compare_exchange", at);
      store(expected, is_kept_one() ? Value::of(old) : Value{}, at);
      return Value::of(done);
    }
    const std::string fits = fmt::format("{} == {}", variable, known(wanted, is_truth));
    if (name.ends_with("weak")) open("if (*)", at);
    emit(fmt::format("{}, {}, {} = {}, {}, {} ? {} : {};", old, done, variable, variable, fits,
                     fits, known(with, is_truth), variable),
         at);
    if (name.ends_with("weak")) {
      close();
      open("else", at);
      emit(fmt::format("{}, {} = {}, false;", old, done, variable), at);
      close();
    }
    open(fmt::format("if (!{})", done), at);
    store(expected, Value::of(old), at);
    close();
    return Value::of(done);
  }
  // fetch_add, ++, |= and such: read and written in one step.
  Value by;
  for (const Expr* one : arguments) {
    const Value found = value(one);
    if (one == arguments.front()) by = found;
  }
  const bool adds = name == "fetch_add" || name == "operator+=";
  const bool subtracts = name == "fetch_sub" || name == "operator-=";
  const bool steps = name == "operator++" || name == "operator--";
  if (steps || ((adds || subtracts) && by.is_number())) {
    const std::string variable = declare(spot, at);
    const std::int64_t change = steps ? 1 : by.number;
    const bool down = subtracts || name == "operator--";
    const Meaning where{.kind = Meaning::Kind::kSpot, .spot = spot};
    const Value after = more(where, Value::of(variable), down ? -change : change);
    assigned(spot.path, after);
    if (after.is_known() && is_kept(spot.path)) {
      const std::string old = temporary(type_of(spot.path, leaf));
      emit(fmt::format("{}, {} = {}, {};", old, variable, variable, after.formula), at);
      const bool before = name.starts_with("fetch") || (steps && !arguments.empty());
      return before ? Value::of(old) : more(where, Value::of(old), down ? -change : change);
    }
  }
  assigned(spot.path, {});
  const std::string variable = declare(spot, at);
  const std::string old = temporary(type_of(spot.path, leaf));
  emit(fmt::format("{}, {} = {}, {};", old, variable, variable, is_truth ? "*" : "0"), at);
  return {};
}

}  // namespace tomos::cpp
