// Guards (RAII): which classes are some, and which locks one is made to hold. Those of the standard
// library and those with Clang's attributes say so. The others are known by what they do: one takes
// a lock in its constructor and gives it back in its destructor, or has a guard as a part, and does
// little else. What does more is an object like any other.
#include <algorithm>
#include <iterator>
#include <utility>

#include "clang/unit.h"

namespace tomos::cpp {

using clang::CXXConstructorDecl;
using clang::CXXRecordDecl;
using clang::Expr;
using clang::FunctionDecl;
using clang::QualType;
using clang::RecordDecl;
using clang::Stmt;

namespace {

// For those who only want to know what kind of call it is.
constexpr Scope kNowhere = {.is_nowhere = true};

bool has_reader_lock(const Stmt* body) {
  if (body == nullptr) return false;
  const auto* call = llvm::dyn_cast<clang::CallExpr>(body);
  const FunctionDecl* callee = call == nullptr ? nullptr : call->getDirectCallee();
  return (callee != nullptr && takes_as_reader(*callee)) ||
         std::ranges::any_of(body->children(), has_reader_lock);
}

template <class Attribute>
bool has_locks(const FunctionDecl& of) {
  const auto* attribute = of.getAttr<Attribute>();
  return attribute != nullptr && attribute->args_size() > 0;
}

const clang::ValueDecl* named_by(const Stmt* of) {
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(of)) return member->getMemberDecl();
  const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(of);
  return reference == nullptr ? nullptr : reference->getDecl();
}

bool names(const Stmt* in, const clang::ValueDecl* decl) {
  return in != nullptr &&
         (named_by(in) == decl || std::ranges::any_of(in->children(), [&](const Stmt* child) {
            return names(child, decl);
          }));
}

// if (mutex_ != nullptr) mutex_->lock(): who has no lock to take has none to hold either.
bool asks_for_null(const Expr* condition, const Stmt* then) {
  condition = condition->IgnoreParenImpCasts();
  if (const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(condition)) {
    return binary->getOpcode() == clang::BO_NE && asks_for_null(binary->getLHS(), then);
  }
  const clang::ValueDecl* pointer = named_by(condition);
  return pointer != nullptr && condition->getType()->isPointerType() && names(then, pointer);
}

// if (!mutex.try_lock()): after what is done then the lock is held in either case.
bool asks_for_failure(const Expr* condition) {
  const auto* negated = llvm::dyn_cast<clang::UnaryOperator>(condition->IgnoreParenImpCasts());
  if (negated == nullptr || negated->getOpcode() != clang::UO_LNot) return false;
  const auto* call = llvm::dyn_cast<clang::CallExpr>(negated->getSubExpr()->IgnoreParenImpCasts());
  const FunctionDecl* callee = call == nullptr ? nullptr : call->getDirectCallee();
  return callee != nullptr && plain_name(*callee).contains_insensitive("try");
}

// What a statement calls, and whether it surely does.
template <class Note>
void each_call(const Stmt* in, bool surely, const Note& note) {
  if (in == nullptr || llvm::isa<clang::LambdaExpr>(in)) return;
  if (const auto* branch = llvm::dyn_cast<clang::IfStmt>(in)) {
    each_call(branch->getInit(), surely, note);
    each_call(branch->getConditionVariableDeclStmt(), surely, note);
    const bool tries = asks_for_failure(branch->getCond());
    if (!tries) each_call(branch->getCond(), surely, note);
    const bool as_if_taken = branch->getElse() == nullptr &&
                             (tries || asks_for_null(branch->getCond(), branch->getThen()));
    each_call(branch->getThen(), surely && as_if_taken, note);
    each_call(branch->getElse(), false, note);
    return;
  }
  const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(in);
  const bool may_not_be = (binary != nullptr && binary->isLogicalOp()) ||
                          llvm::isa<clang::AbstractConditionalOperator>(in);
  const bool repeats = llvm::isa<clang::ForStmt>(in) || llvm::isa<clang::WhileStmt>(in) ||
                       llvm::isa<clang::SwitchStmt>(in) || llvm::isa<clang::CXXForRangeStmt>(in) ||
                       llvm::isa<clang::CXXTryStmt>(in);
  bool is_first = true;
  for (const Stmt* child : in->children()) {
    each_call(child, surely && !repeats && (is_first || !may_not_be), note);
    is_first = false;
  }
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(in)) note(*call, surely);
}

const Expr* initial_value(const CXXConstructorDecl& constructor, const clang::FieldDecl& field) {
  for (const clang::CXXCtorInitializer* init : constructor.inits()) {
    if (init->isWritten() && init->getMember() == &field) return init->getInit();
  }
  return nullptr;
}

std::string tag_of(const Expr* argument) {
  const RecordDecl* record = argument->getType().getNonReferenceType()->getAsRecordDecl();
  if (record == nullptr || !is_of_std(*record)) return {};
  return record->getNameAsString();
}

}  // namespace

bool has_unlock(const Stmt* body) {
  if (body == nullptr) return false;
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(body)) {
    const FunctionDecl* callee = call->getDirectCallee();
    if (callee != nullptr && (callee->hasAttr<clang::ReleaseCapabilityAttr>() ||
                              plain_name(*callee).contains_insensitive("unlock"))) {
      return true;
    }
  }
  return std::ranges::any_of(body->children(), has_unlock);
}

bool takes_lock(const CXXConstructorDecl& constructor) {
  const auto* made = llvm::dyn_cast_or_null<CXXConstructorDecl>(constructor.getDefinition());
  if (made == nullptr) return true;
  const auto takes = [](const auto& self, const Stmt* of) -> bool {
    if (of == nullptr) return false;
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(of)) {
      const FunctionDecl* callee = call->getDirectCallee();
      const llvm::StringRef name = callee == nullptr ? llvm::StringRef() : plain_name(*callee);
      if (callee == nullptr || callee->hasAttr<clang::AcquireCapabilityAttr>() ||
          (name.contains_insensitive("lock") && !name.contains_insensitive("unlock"))) {
        return true;
      }
    }
    // By another guard, or another constructor.
    const auto* part = llvm::dyn_cast<clang::CXXConstructExpr>(of);
    if (part != nullptr && part->getNumArgs() > 0) return true;
    return std::ranges::any_of(of->children(),
                               [&](const Stmt* child) { return self(self, child); });
  };
  return takes(takes, made->getBody()) ||
         std::ranges::any_of(made->inits(), [&](const clang::CXXCtorInitializer* init) {
           return takes(takes, init->getInit());
         });
}

bool takes_as_reader(const FunctionDecl& callee) {
  const auto* taken = callee.getAttr<clang::AcquireCapabilityAttr>();
  const llvm::StringRef name = plain_name(callee);
  return taken != nullptr ? taken->isShared()
                          : name.contains("lock_shared") || name.contains("ReaderLock") ||
                                name.contains("rdlock");
}

// Whether a function of a class has to do with anything but its own object, locks and guards.
bool Unit::does_more(const Stmt* in, const CXXRecordDecl& of) {
  if (in == nullptr) return false;
  if (llvm::isa<clang::LambdaExpr>(in)) return true;
  if (const auto* expression = llvm::dyn_cast<Expr>(in)) {
    // What is named on the way to a lock is not touched.
    const RecordDecl* record = object_type(expression->getType())->getAsRecordDecl();
    const bool is_guard = record != nullptr && record != &of && is_guard_class(*record);
    if (lock_type(expression->getType()) || is_guard) {
      if (llvm::isa<clang::MemberExpr>(in)) return false;
    }
  }
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(in)) {
    const auto* field = llvm::dyn_cast<clang::FieldDecl>(member->getMemberDecl());
    if (field != nullptr && field->getParent()->getCanonicalDecl() != of.getCanonicalDecl()) {
      return true;
    }
  } else if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(in)) {
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
    if (variable != nullptr && variable->hasGlobalStorage() && !variable->isConstexpr() &&
        !variable->getType().isConstQualified() && !lock_type(variable->getType())) {
      return true;
    }
  } else if (const auto* call = llvm::dyn_cast<clang::CallExpr>(in)) {
    const FunctionDecl* callee = call->getDirectCallee();
    if (callee == nullptr) return true;
    const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(callee);
    const bool is_known =
        is_foreign(*callee) || lock_call(*call, kNowhere).has_value() ||
        (method != nullptr &&
         (method->getParent()->getCanonicalDecl() == of.getCanonicalDecl() ||
          is_lock_class(*method->getParent()) || is_guard_class(*method->getParent())));
    if (!is_known) return true;
  } else if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(in)) {
    const CXXRecordDecl& record = *made->getConstructor()->getParent();
    if (!made->getConstructor()->isTrivial() && !is_foreign(record) && &record != &of &&
        !is_guard_class(record)) {
      return true;
    }
  }
  return std::ranges::any_of(in->children(),
                             [&](const Stmt* child) { return does_more(child, of); });
}

// Has a guard as a part, or takes a lock itself and gives it back, or the other way round.
bool Unit::is_guard_by_deeds(const CXXRecordDecl& record) {
  if (record.isLambda() || record.isUnion() || is_pointer_class(record)) return false;
  // One that is given a guard does something to that one.
  const auto is_given_guard = [&](const CXXConstructorDecl* made) {
    return !made->isCopyOrMoveConstructor() &&
           std::ranges::any_of(made->parameters(), [&](const clang::ParmVarDecl* parameter) {
             return is_guard_parameter(*parameter);
           });
  };
  if (std::ranges::any_of(record.ctors(), is_given_guard)) return false;
  const bool has_guard = std::ranges::any_of(record.fields(), [&](const clang::FieldDecl* field) {
    const RecordDecl* part = field->getType()->getAsRecordDecl();
    return part != nullptr && is_guard_class(*part);
  });
  const auto does = [&](const FunctionDecl* function, LockCall::Kind kind) {
    const FunctionDecl* definition = function == nullptr ? nullptr : function->getDefinition();
    bool found = false;
    if (definition == nullptr) return found;
    each_call(definition->getBody(), true, [&](const clang::CallExpr& call, bool surely) {
      const auto one = surely ? lock_call(call, kNowhere) : std::nullopt;
      found |= one && one->kind == kind;
    });
    return found;
  };
  const clang::CXXDestructorDecl* destructor = record.getDestructor();
  const FunctionDecl* ends = destructor == nullptr ? nullptr : destructor->getDefinition();
  const bool gives_back = ends != nullptr && has_unlock(ends->getBody());
  const bool takes_again = does(destructor, LockCall::Kind::kLock);
  if (!has_guard && !gives_back && !takes_again) return false;
  const auto begins = [&](const CXXConstructorDecl* made) {
    return !made->isCopyOrMoveConstructor() &&
           ((gives_back && does(made, LockCall::Kind::kLock)) ||
            (takes_again && does(made, LockCall::Kind::kUnlock)));
  };
  if (!has_guard && std::ranges::none_of(record.ctors(), begins)) return false;
  const auto is_written = [](const CXXConstructorDecl* made) {
    return made->isUserProvided() && !made->isCopyOrMoveConstructor();
  };
  if (std::ranges::none_of(record.ctors(), is_written)) return false;
  return std::ranges::none_of(record.methods(), [&](const clang::CXXMethodDecl* method) {
    if (!method->isUserProvided() || method->isDeleted()) return false;
    const FunctionDecl* definition = method->getDefinition();
    if (definition == nullptr) return true;
    const auto* constructor = llvm::dyn_cast<CXXConstructorDecl>(definition);
    const bool begins_more =
        constructor != nullptr &&
        std::ranges::any_of(constructor->inits(), [&](const clang::CXXCtorInitializer* init) {
          return does_more(init->getInit(), record);
        });
    return begins_more || does_more(definition->getBody(), record);
  });
}

bool Unit::is_guard_class(const RecordDecl& of) {
  const auto* record = llvm::dyn_cast<CXXRecordDecl>(&of);
  if (record == nullptr) return false;
  if (record->getDefinition() != nullptr) record = record->getDefinition();
  const auto known = guard_classes_.find(record);
  if (known != guard_classes_.end()) return known->second;
  guard_classes_[record] = false;  // while it is being found out
  bool is_guard = record->hasAttr<clang::ScopedLockableAttr>();
  if (!is_guard && is_of_std(*record) && record->getDeclName().isIdentifier()) {
    is_guard =
        is_one_of(plain_name(*record), {"lock_guard", "unique_lock", "scoped_lock", "shared_lock"});
  } else if (!is_guard && record->hasDefinition() && !record->isLambda() && !is_foreign(*record)) {
    const clang::CXXDestructorDecl* destructor = record->getDestructor();
    const FunctionDecl* ends = destructor == nullptr ? nullptr : destructor->getDefinition();
    const bool takes_lock =
        std::ranges::any_of(record->ctors(), [&](const CXXConstructorDecl* made) {
          return made->getNumParams() > 0 && !made->isCopyOrMoveConstructor() &&
                 lock_type(made->getParamDecl(0)->getType());
        });
    is_guard = takes_lock && ends != nullptr && has_unlock(ends->getBody());
    // Without saying that it is one, it says that it takes what it gives back in the end, or gives
    // back what it takes again.
    is_guard |= destructor != nullptr &&
                std::ranges::any_of(record->ctors(), [&](const FunctionDecl* made) {
                  return has_locks<clang::AcquireCapabilityAttr>(*made)
                             ? destructor->hasAttr<clang::ReleaseCapabilityAttr>()
                             : has_locks<clang::ReleaseCapabilityAttr>(*made) &&
                                   destructor->hasAttr<clang::AcquireCapabilityAttr>();
                });
    for (const clang::CXXBaseSpecifier& base : record->bases()) {
      const CXXRecordDecl* above = base.getType()->getAsCXXRecordDecl();
      is_guard |= above != nullptr && record->field_empty() && is_guard_class(*above);
    }
    is_guard = is_guard || is_guard_by_deeds(*record);
  }
  return guard_classes_[record] = is_guard;
}

bool Unit::is_reader_guard(const CXXConstructorDecl& made) {
  if (const auto* taken = made.getAttr<clang::AcquireCapabilityAttr>()) return taken->isShared();
  const CXXRecordDecl& of = *made.getParent();
  if (is_of_std(of)) return plain_name(of) == "shared_lock";
  const FunctionDecl* definition = made.getDefinition();
  return definition != nullptr && has_reader_lock(definition->getBody());
}

// The variable that is the guard, also by another name, and where it is asked for the one of the
// standard library that it wraps: wait(guard.native_handle()).
const clang::VarDecl* Unit::guard_in(const Expr* of) {
  of = core_of(of);
  if (const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(of)) {
    const Expr* object = call->getImplicitObjectArgument();
    const RecordDecl* given = object_type(call->getType())->getAsRecordDecl();
    const bool is_part = call->getNumArgs() == 0 && given != nullptr && is_guard_class(*given);
    return is_part && object != nullptr ? guard_in(object) : nullptr;
  }
  const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(of);
  const auto* guard =
      reference == nullptr ? nullptr : llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
  const bool is_name = guard != nullptr && !llvm::isa<clang::ParmVarDecl>(guard) &&
                       (guard->getType()->isReferenceType() || guard->getType()->isPointerType());
  if (is_name && guard->hasInit() && !guard->hasGlobalStorage()) return guard_in(guard->getInit());
  const RecordDecl* record =
      guard == nullptr ? nullptr : object_type(guard->getType())->getAsRecordDecl();
  return record != nullptr && is_guard_class(*record) ? guard : nullptr;
}

// What a field of a guard leads to that its constructor sets: account_(account).
std::optional<LockPath> Unit::initial_path(const clang::FieldDecl& field, const Scope& scope) {
  const auto* definition = llvm::cast_or_null<CXXConstructorDecl>(scope.callee->getDefinition());
  const Expr* value = definition == nullptr ? nullptr : initial_value(*definition, field);
  if (value == nullptr || accessor_depth_ > 4) return std::nullopt;
  ++accessor_depth_;
  auto found = path(value, scope);
  --accessor_depth_;
  return found;
}

// What a constructor does by what it does, apart from attributes and arguments. Nothing: it is not
// seen to take a lock.
std::optional<Unit::Taken> Unit::taken_inside(const CXXConstructorDecl& constructor,
                                              const Scope& inside, const PathOf& path_of) {
  const auto* definition = llvm::dyn_cast_or_null<CXXConstructorDecl>(constructor.getDefinition());
  if (definition == nullptr || is_of_std(constructor)) return std::nullopt;
  std::optional<Taken> found;
  const auto part = [&](const Expr* init) {
    const clang::CXXConstructExpr* made = construction_of(init);
    if (made == nullptr || !is_guard_class(*made->getConstructor()->getParent())) return;
    const bool is_copy = made->getConstructor()->isCopyOrMoveConstructor();
    Taken one = is_copy ? Taken{.held = Held::kNo} : taken_by(*made, inside, path_of);
    if (one.inverted) one = {.held = Held::kNo};
    if (!found) {
      found = std::move(one);
      return;
    }
    std::ranges::move(one.locks, std::back_inserter(found->locks));
    if (found->held != one.held) found->held = Held::kNo;
    found->is_shared |= one.is_shared;
  };
  for (const clang::CXXCtorInitializer* init : definition->inits()) part(init->getInit());
  each_call(definition->getBody(), true, [&](const clang::CallExpr& call, bool surely) {
    const auto does = lock_call(call, inside);
    if (!does) return;
    if (does->kind == LockCall::Kind::kTryLock || !surely) {
      if (does->kind == LockCall::Kind::kAssertHeld) return;
      found = Taken{.held = Held::kNo};
    } else if (does->kind == LockCall::Kind::kUnlock && found) {
      found->held = Held::kNo;
    } else if (does->kind == LockCall::Kind::kUnlock) {
      found = Taken{.locks = does->locks, .held = Held::kNo, .inverted = true};
    } else if (does->kind == LockCall::Kind::kLock) {
      if (!found) found.emplace();
      std::ranges::copy(does->locks, std::back_inserter(found->locks));
      found->held = Held::kYes;
      found->is_shared |= does->is_shared;
    }
  });
  return found;
}

// What a guard is made for, and whether it holds it then.
Unit::Taken Unit::taken_by(const clang::CXXConstructExpr& made, const Scope& outer,
                           const PathOf& path_of) {
  const std::vector<const Expr*> arguments(made.arg_begin(), made.arg_end());
  const CXXConstructorDecl& constructor = *made.getConstructor();
  const Scope inside = {.outer = &outer, .callee = &constructor, .arguments = arguments};
  Taken found = {.is_shared = is_reader_guard(constructor)};
  const auto add = [&](const Expr* lock, const Scope& in) {
    if (auto known = path_of(lock, in)) found.locks.push_back(std::move(*known));
  };
  const auto told = [&](const auto& locks, Held held) {
    for (const Expr* lock : locks) add(lock, inside);
    found.held = held;
    return found;
  };
  if (const auto* taken = constructor.getAttr<clang::AcquireCapabilityAttr>()) {
    return told(taken->args(), Held::kYes);
  }
  if (const auto* held = constructor.getAttr<clang::RequiresCapabilityAttr>()) {
    return told(held->args(), Held::kMaybe);  // as with adopt_lock
  }
  if (const auto* left = constructor.getAttr<clang::ReleaseCapabilityAttr>()) {
    found.inverted = true;
    return told(left->args(), Held::kNo);
  }
  if (const auto* later = constructor.getAttr<clang::LocksExcludedAttr>()) {
    return told(later->args(), Held::kNo);
  }
  if (const auto* tries = constructor.getAttr<clang::TryAcquireCapabilityAttr>()) {
    found.tried = true;
    return told(tries->args(), Held::kNo);
  }
  if (auto done = taken_inside(constructor, inside, path_of)) return std::move(*done);
  // One that only gives back in the end what others took.
  if (!is_of_std(constructor) && !takes_lock(constructor)) found.held = Held::kMaybe;
  for (const Expr* argument : arguments) {
    const std::string tag = tag_of(argument);
    if (tag == "defer_lock_t") {
      found.held = Held::kNo;
    } else if (tag == "try_to_lock_t" || tag == "duration" || tag == "time_point") {
      found.held = Held::kNo;
      found.tried = true;
    } else if (tag == "adopt_lock_t") {
      found.held = Held::kMaybe;
    } else if (lock_type(argument->getType())) {
      add(argument, outer);
    }
  }
  if (found.locks.empty()) found.held = Held::kNo;
  return found;
}

// The locks that a guard is made for, where it is made to hold them.
std::vector<LockPath> Unit::guard_paths(const clang::CXXConstructExpr& made, const Scope& outer) {
  Taken found =
      taken_by(made, outer, [&](const Expr* lock, const Scope& in) { return path(lock, in); });
  if (found.held != Held::kYes) return {};
  return std::move(found.locks);
}

}  // namespace tomos::cpp
