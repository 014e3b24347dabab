// Guards (RAII) of a driver, wherever they are: variables, temporary ones, members, what is given
// to a function or returned by it. A guard is known by where it is, as any object; which lock it
// holds is known on every way. Whether it does is known, too, or, where ways meet that do not
// agree, found out while the program runs: the next pass has a variable for that (Facts::unsteady).
//
// What cannot be followed is refused, as nobody would see the lock given back: guards inside of
// objects of the library (std::optional, std::unique_ptr), in lambdas, in static variables.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "clang/driver_types.h"
#include "clang/drivers.h"
#include "clang/unit.h"

namespace tomos::cpp {

using clang::Expr;
using clang::QualType;
using clang::SourceLocation;

namespace {

bool gives_back(const clang::Stmt* of) {
  if (of == nullptr) return false;
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(of)) {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    if (callee != nullptr && plain_name(*callee).contains("unlock")) return true;
  }
  return std::ranges::any_of(of->children(), gives_back);
}

bool has_base(const clang::RecordDecl& record, llvm::function_ref<bool(QualType)> fits) {
  const auto* of_class = llvm::dyn_cast<clang::CXXRecordDecl>(&record);
  return of_class != nullptr &&
         std::ranges::any_of(of_class->bases(), [&](const clang::CXXBaseSpecifier& base) {
           return fits(base.getType());
         });
}

const clang::CXXDestructorDecl* written_destructor(const clang::RecordDecl& record) {
  const auto* of_class = llvm::dyn_cast<clang::CXXRecordDecl>(&record);
  const clang::CXXDestructorDecl* destructor =
      of_class == nullptr ? nullptr : of_class->getDestructor();
  return destructor != nullptr && destructor->isUserProvided() ? destructor : nullptr;
}

}  // namespace

// ---- which objects give back a lock when they die ----

bool DriverUnit::keeps_lock(QualType type) const {
  if (!guard_type(type).empty()) return true;
  if (const QualType inside = contained_type(type); !inside.isNull()) return keeps_lock(inside);
  const clang::RecordDecl* record = type->getAsRecordDecl();
  record = record == nullptr ? nullptr : record->getDefinition();
  if (record == nullptr || type->isReferenceType()) return false;
  const auto keeps = [&](QualType part) { return keeps_lock(part); };
  if (is_foreign(*record)) {
    const auto* made = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(record);
    const auto is_kept = [&](const auto& self, const clang::TemplateArgument& one) -> bool {
      if (one.getKind() == clang::TemplateArgument::Pack) {
        return std::ranges::any_of(one.pack_elements(), [&](const clang::TemplateArgument& part) {
          return self(self, part);
        });
      }
      return one.getKind() == clang::TemplateArgument::Type && keeps_lock(one.getAsType());
    };
    return made != nullptr &&
           std::ranges::any_of(made->getTemplateArgs().asArray(),
                               [&](const auto& one) { return is_kept(is_kept, one); });
  }
  const clang::CXXDestructorDecl* destructor = written_destructor(*record);
  return (destructor != nullptr && gives_back(destructor->getBody())) || has_base(*record, keeps) ||
         std::ranges::any_of(record->fields(), [&](const clang::FieldDecl* field) {
           return keeps_lock(field->getType());
         });
}

// Something is done when an object of it dies.
bool DriverUnit::is_ended(QualType type) const {
  switch (leaf_of(type)) {
    case Leaf::kGuard:
      return true;
    case Leaf::kArray:
      return is_ended(contained_type(type));
    case Leaf::kRecord: {
      const clang::RecordDecl* record = type->getAsRecordDecl()->getDefinition();
      if (record == nullptr) return false;
      return written_destructor(*record) != nullptr ||
             has_base(*record, [&](QualType base) { return is_ended(base); }) ||
             std::ranges::any_of(record->fields(), [&](const clang::FieldDecl* field) {
               return is_ended(field->getType());
             });
    }
    case Leaf::kThread:
    case Leaf::kList:
      return is_joined_at_end(type) || is_joined_at_end(contained_type(type));
    case Leaf::kLock:
    case Leaf::kCondition:
    case Leaf::kMeeting:
    case Leaf::kTruth:
    case Leaf::kNumber:
    case Leaf::kPointer:
    case Leaf::kData:
      return false;
  }
  return false;
}

// Who uses a guard inside of something that is not followed.
void DriverUnit::refuse_hidden_guard(const Expr& of) {
  const QualType type = of.getType().getNonReferenceType();
  const clang::RecordDecl* record = type->getAsRecordDecl();
  if (record == nullptr || !guard_type(type).empty() || leaf_of(type) == Leaf::kArray) return;
  const bool is_guard = has_base(*record, [](QualType base) { return !guard_type(base).empty(); });
  if (!is_guard && !is_foreign(*record) && !record->isUnion()) return;
  if (!is_guard && !keeps_lock(type)) return;
  refuse(of.getExprLoc(),
         fmt::format("when the lock in {} is given back is not known",
                     type.getUnqualifiedType().getAsString(context_.getPrintingPolicy())),
         "Keep the guard in a variable, or in a member of a class of your own.");
}

void DriverUnit::destroy(const Spot& spot, SourceLocation at) {
  if (!is_ended(spot.type) || spot.blurred) return;
  switch (leaf_of(spot)) {
    case Leaf::kGuard:
      give_back(spot, at);
      holding_.guards.erase(spot.path);
      return;
    case Leaf::kArray:
      for (std::uint64_t i = array_size(spot.type, context_).value_or(0); i-- > 0;) {
        destroy(element(spot, Value::of(static_cast<std::int64_t>(i)), at), at);
      }
      return;
    case Leaf::kThread:
    case Leaf::kList:
      for (const Spot& thread : threads_in(spot)) join(thread, at);
      return;
    case Leaf::kRecord:
      return destroy_as(spot, *spot.type->getAsRecordDecl()->getDefinition(), at);
    case Leaf::kLock:
    case Leaf::kCondition:
    case Leaf::kMeeting:
    case Leaf::kTruth:
    case Leaf::kNumber:
    case Leaf::kPointer:
    case Leaf::kData:
      return;
  }
}

// What the destructor does, then the members, the last first, then the bases.
void DriverUnit::destroy_as(const Spot& spot, const clang::RecordDecl& record, SourceLocation at) {
  if (const clang::CXXDestructorDecl* destructor = written_destructor(record)) {
    const auto* definition =
        llvm::dyn_cast_or_null<clang::CXXDestructorDecl>(destructor->getDefinition());
    if (definition == nullptr) {
      refuse(at, fmt::format("{} has no body here", destructor->getQualifiedNameAsString()),
             "Put the driver and what it tests into one source file.");
    }
    invoke(*definition, spot, {}, nullptr, at);
  }
  const std::vector<const clang::FieldDecl*> fields(record.field_begin(), record.field_end());
  for (std::size_t i = fields.size(); i-- > 0;) destroy(field(spot, *fields[i]), at);
  const auto* of_class = llvm::dyn_cast<clang::CXXRecordDecl>(&record);
  if (of_class == nullptr) return;
  const std::vector<clang::CXXBaseSpecifier> bases(of_class->bases_begin(), of_class->bases_end());
  for (std::size_t i = bases.size(); i-- > 0;) {
    const clang::RecordDecl* base = bases[i].getType()->getAsRecordDecl();
    base = base == nullptr ? nullptr : base->getDefinition();
    if (base != nullptr && !is_foreign(*base)) destroy_as(spot, *base, at);
  }
}

// ---- temporary objects: they die with the expression that they are in ----

void DriverUnit::keep_temporary(const Spot& spot) {
  if (is_ended(spot.type)) frames_.back().temporaries.push_back(spot);
}

// Somebody else has it now.
bool DriverUnit::forget_temporary(const Spot& spot) {
  return std::erase(frames_.back().temporaries, spot) > 0;
}

void DriverUnit::end_temporaries(std::size_t first, SourceLocation at) {
  while (frames_.back().temporaries.size() > first) {
    const Spot last = frames_.back().temporaries.back();
    frames_.back().temporaries.pop_back();
    destroy(last, at);
  }
}

// One that is made on one way only would have to die there only.
void DriverUnit::refuse_temporaries(std::size_t first, SourceLocation at) {
  if (frames_.back().temporaries.size() == first) return;
  refuse(at, "an object that does something when it dies is made on one way only",
         "Write it with if, and give the object a name.");
}

// ---- what a guard holds ----

Spot DriverUnit::lock_of(const Expr* of) {
  const Meaning where = place(of);
  if (where.kind == Meaning::Kind::kSpot) return where.spot;
  if (where.kind == Meaning::Kind::kValue && where.value.kind == Value::Kind::kPointer) {
    return where.value.spot;
  }
  refuse(of->getExprLoc(), "which lock this is is not known", "Use a lock that has a name.");
}

DriverUnit::Guard& DriverUnit::guard_at(const Spot& spot, SourceLocation at) {
  const auto known_one = holding_.guards.find(spot.path);
  if (known_one == holding_.guards.end() || spot.blurred) {
    refuse(at, "what happens to this guard is not known",
           "Use it in the thread that has made it, as a variable or a member.");
  }
  return known_one->second;
}

// A variable that says whether it holds its lock: for as long as the thread runs, since whoever has
// made the guard may hand it to others.
void DriverUnit::ask_when_it_runs(const Spot& spot, SourceLocation at) {
  Guard& guard = holding_.guards.at(spot.path);
  if (!guard.owns_if.empty()) return;
  std::string name;
  // Not with the name of the thread: equal threads are told by their text.
  const bool is_own = !thread_.empty() && spot.path.starts_with(thread_ + " ");
  const std::string base =
      identifier(spot.path.substr(is_own ? thread_.size() + 1 : 0) + " holds its lock");
  for (int i = 1; name.empty() || facts_.names.contains(name) || live_names_.contains(name) ||
                  !lasting_names_.insert(name).second;
       ++i) {
    name = i == 1 ? base : fmt::format("{}_{}", base, i);
  }
  frames_.front().declared[name] = "bool";
  guard.owns_if = name;
  emit(fmt::format("{} = {};", name, std::exchange(guard.owns, true)), at);
}

void DriverUnit::set_owns(const Spot& spot, bool owns, SourceLocation at) {
  Guard& guard = holding_.guards.at(spot.path);
  if (guard.owns_if.empty()) {
    guard.owns = owns;
  } else {
    emit(fmt::format("{} = {};", guard.owns_if, owns), at);
  }
}

void DriverUnit::new_guard(const Spot& spot, SourceLocation at) {
  if (spot.blurred) {
    refuse(at, "which guard this is is not known", "Use one that has a name.");
  }
  holding_.guards[spot.path] = {
      .locks = {}, .shared = guard_type(spot.type) == "shared_lock", .owns_if = ""};
  if (facts_.unsteady.contains(spot.path)) ask_when_it_runs(spot, at);
}

void DriverUnit::try_guard(const Spot& spot, SourceLocation at) {
  const Guard guard = guard_at(spot, at);
  if (guard.locks.size() != 1)
    refuse(at, "which lock is tried is not known", "Try one of a guard.");
  const std::string done = known(try_lock(guard.locks[0], guard.shared, false, at), true);
  ask_when_it_runs(spot, at);
  emit(fmt::format("{} = {};", guard_at(spot, at).owns_if, done), at);
}

void DriverUnit::move_guard(const Spot& from, const Spot& to, SourceLocation at) {
  const Guard source = guard_at(from, at);
  Guard& target = guard_at(to, at);
  target.locks = source.locks;
  target.shared = source.shared;
  if (source.owns_if.empty()) {
    set_owns(to, source.owns, at);
  } else {
    ask_when_it_runs(to, at);
    emit(fmt::format("{} = {};", target.owns_if, source.owns_if), at);
  }
  holding_.guards.at(from.path).locks.clear();
  set_owns(from, false, at);
}

void DriverUnit::swap_guards(const Spot& one, const Spot& other, SourceLocation at) {
  Guard& left = guard_at(one, at);
  Guard& right = guard_at(other, at);
  if (!left.owns_if.empty() || !right.owns_if.empty()) {
    ask_when_it_runs(one, at);
    ask_when_it_runs(other, at);
    emit(fmt::format("{0}, {1} = {1}, {0};", left.owns_if, right.owns_if), at);
  }
  std::swap(left.locks, right.locks);
  std::swap(left.owns, right.owns);
}

void DriverUnit::give_back(const Spot& spot, SourceLocation at) {
  const auto known_one = holding_.guards.find(spot.path);
  if (known_one == holding_.guards.end() || !known_one->second.owns ||
      known_one->second.locks.empty()) {
    return;
  }
  const Guard guard = known_one->second;
  if (!guard.owns_if.empty()) open(fmt::format("if ({})", guard.owns_if), at);
  for (std::size_t i = guard.locks.size(); i-- > 0;) release(guard.locks[i], at);
  if (!guard.owns_if.empty()) close();
  set_owns(spot, false, at);
}

// A guard that is made there: of a lock, or of another guard.
void DriverUnit::make_guard(const Spot& spot, const Expr* with, SourceLocation at) {
  new_guard(spot, at);
  if (with == nullptr) return;
  const clang::CXXConstructExpr* made = construction_of(with);
  if (made == nullptr) {
    const Value from = value(with);
    if (from.kind != Value::Kind::kPointer) {
      refuse(at, "where this guard comes from is not known",
             "Make it of a lock, where it is used.");
    }
    return move_guard(from.spot, spot, at);
  }
  if (made->getConstructor()->isCopyOrMoveConstructor()) {
    return move_guard(this->spot(made->getArg(0)), spot, at);
  }
  bool acquires = true;
  bool adopts = false;
  bool tries = false;
  std::vector<Spot> locks;
  for (const Expr* one : made->arguments()) {
    if (is_any_lock_type(one->getType())) {
      locks.push_back(lock_of(one));
      continue;
    }
    const auto* tag = one->getType().getNonReferenceType()->getAsRecordDecl();
    const std::string name = tag == nullptr ? "" : tag->getNameAsString();
    if (name == "adopt_lock_t") {
      adopts = true;
    } else if (name == "try_to_lock_t") {
      tries = true;
    } else if (name != "defer_lock_t" && !llvm::isa<clang::CXXDefaultArgExpr>(one)) {
      refuse(at, "a guard of this kind cannot be followed",
             "std::lock_guard, std::scoped_lock and std::unique_lock of a mutex can.");
    }
    acquires &= llvm::isa<clang::CXXDefaultArgExpr>(one);
  }
  if (locks.empty()) return;
  holding_.guards.at(spot.path).locks = locks;
  const bool shared = holding_.guards.at(spot.path).shared;
  if (tries) return try_guard(spot, at);
  if (acquires && locks.size() > 1) {
    lock_all(locks, at);
  } else if (acquires) {
    acquire(locks[0], at, shared);
  }
  if (acquires || adopts) set_owns(spot, true, at);
}

// ---- where ways meet ----

// At the head of a loop (`again`) what comes round must be what was there: all of it was read
// before that was known.
void DriverUnit::join_ways(const Holding& other, SourceLocation at, bool again) {
  for (auto& [path, one] : holding_.guards) {
    const auto that = other.guards.find(path);
    if (that == other.guards.end() || one == that->second) continue;
    const bool is_empty = one.locks.empty() || that->second.locks.empty();
    if (one.locks != that->second.locks && (again || !is_empty)) {
      refuse(at, "which lock a guard has behind this depends on the way",
             "Use a guard of its own for each lock.");
    }
    if (one.locks.empty()) one.locks = that->second.locks;
    if (one.owns_if != that->second.owns_if || one.owns != that->second.owns) {
      facts_.unsteady.insert(path);
    }
  }
  // Of one that is taken again the text shows when it is free.
  const auto is_unclear = [&](const std::string& lock) {
    return holding_.held.count(lock) != other.held.count(lock);
  };
  if (std::ranges::any_of(recursive_, is_unclear)) {
    refuse(at, "whether the lock is held behind this depends on the way",
           "Lock and unlock in the same block.");
  }
  std::multiset<std::string> both;
  std::ranges::set_intersection(holding_.held, other.held, std::inserter(both, both.end()));
  holding_.held = std::move(both);
}

void DriverUnit::join_ways(std::optional<Holding>& all, SourceLocation at) {
  if (!all) {
    all = holding_;
    return;
  }
  const Holding here = std::exchange(holding_, std::move(*all));
  join_ways(here, at);
  all = std::exchange(holding_, here);
}

// Behind a label: what others came with, and who comes from above, if anybody does.
void DriverUnit::arrive(const std::optional<Holding>& others, bool reached, SourceLocation at) {
  if (!others) return;
  if (reached) {
    join_ways(*others, at);
  } else {
    holding_ = *others;
  }
}

// What those hold who have left a round of a loop that is written out.
void DriverUnit::leave_round(std::optional<Holding>& all, SourceLocation at) {
  const std::optional<Holding>& left = frames_.back().breaks.back().holding;
  if (!left) return;
  Holding here = std::exchange(holding_, *left);
  join_ways(all, at);
  holding_ = std::move(here);
}

// ---- what is done to a guard by its name ----

bool DriverUnit::is_of_scope(const Spot& spot) const {
  return std::ranges::any_of(frames_.back().scopes.back().cleanups,
                             [&](const Cleanup& cleanup) { return cleanup.spot == spot; });
}

Value DriverUnit::guard_method(const clang::CXXMethodDecl& method, const Spot& spot,
                               llvm::ArrayRef<const Expr*> arguments, SourceLocation at) {
  const std::string name = method.getNameAsString();
  if (name == "operator=" || name == "swap") {
    const Spot other = this->spot(arguments[0]);
    if (name == "swap") {
      swap_guards(spot, other, at);
      return {};
    }
    if (!(other == spot)) assign_guard(other, spot, at);
    return Value::leading_to(spot);
  }
  const Guard guard = guard_at(spot, at);
  if (name == "owns_lock" || llvm::isa<clang::CXXConversionDecl>(method)) {
    return guard.owns_if.empty() ? Value::of(guard.owns ? 1 : 0) : Value::of(guard.owns_if);
  }
  const bool is_plain = name == "lock" || name == "unlock" || name == "try_lock";
  if (guard.locks.empty() || (!is_plain && name != "mutex" && name != "release")) {
    refuse(at, "what happens to this guard is not known",
           guard.locks.empty() ? "It has no lock here." : "Use lock() and unlock().");
  }
  if (name == "try_lock") {
    try_guard(spot, at);
    return Value::of(guard_at(spot, at).owns_if);
  }
  if (name == "mutex" || name == "release") {
    if (name == "release") {
      holding_.guards.at(spot.path).locks.clear();
      set_owns(spot, false, at);
    }
    return Value::leading_to(guard.locks[0]);
  }
  const bool locks = name == "lock";
  if (locks && holding_.held.empty() && is_of_scope(spot)) begin_section(at);
  for (const Spot& lock : guard.locks) {
    locks ? acquire(lock, at, guard.shared) : release(lock, at);
  }
  set_owns(spot, locks, at);
  return {};
}

// What it held before is given back.
void DriverUnit::assign_guard(const Spot& from, const Spot& to, SourceLocation at) {
  if (!holding_.guards.contains(to.path)) new_guard(to, at);
  give_back(to, at);
  move_guard(from, to, at);
}

}  // namespace tomos::cpp
