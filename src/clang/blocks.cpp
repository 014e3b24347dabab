// Blocks under construction, the variables in them, and what is known where ways meet.
#include <algorithm>

#include "clang/body.h"

namespace tomos::cpp {

using clang::Expr;
using clang::SourceLocation;
using clang::Stmt;
using clang::VarDecl;
using core::ExprId;
using Kind = core::Expr::Kind;

const VarDecl* variable_in(const Expr* of) {
  const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(of->IgnoreParenCasts());
  return reference == nullptr ? nullptr : llvm::dyn_cast<VarDecl>(reference->getDecl());
}

bool is_null(const Expr* of) {
  of = of->IgnoreImplicit()->IgnoreParenCasts()->IgnoreImplicit();
  return llvm::isa<clang::CXXNullPtrLiteralExpr>(of) || llvm::isa<clang::GNUNullExpr>(of);
}

void variables_in(const Stmt* of, std::set<const VarDecl*>& to) {
  if (of == nullptr) return;
  if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(of)) {
    const clang::ValueDecl* decl = reference->getDecl();
    if (const auto* binding = llvm::dyn_cast<clang::BindingDecl>(decl)) {
      decl = llvm::dyn_cast_or_null<VarDecl>(binding->getDecomposedDecl());
    }
    if (const auto* variable = llvm::dyn_cast_or_null<VarDecl>(decl)) to.insert(variable);
  }
  for (const Stmt* child : of->children()) variables_in(child, to);
}

void assigned_in(const Stmt* of, std::set<const VarDecl*>& to) {
  if (of == nullptr) return;
  const auto note = [&](const Expr* place) {
    if (const VarDecl* variable = variable_in(place)) to.insert(variable);
  };
  if (const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(of)) {
    if (binary->isAssignmentOp()) note(binary->getLHS());
  } else if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(of)) {
    if (unary->isIncrementDecrementOp() || unary->getOpcode() == clang::UO_AddrOf) {
      note(unary->getSubExpr());
    }
  } else if (const auto* call = llvm::dyn_cast<clang::CallExpr>(of)) {
    // Whoever is given a variable, and not only its value, may set it.
    const auto is_given = [](const Expr* one) {
      return one->isGLValue() && !one->getType().isConstQualified();
    };
    const auto* by_operator = llvm::dyn_cast<clang::CXXOperatorCallExpr>(of);
    const bool leads_on =
        by_operator != nullptr && (by_operator->getOperator() == clang::OO_Arrow ||
                                   by_operator->getOperator() == clang::OO_Star ||
                                   by_operator->getOperator() == clang::OO_Subscript);
    if (!leads_on) {
      for (const Expr* argument : call->arguments()) {
        if (is_given(argument)) note(argument);
      }
    }
    const auto* by_name = llvm::dyn_cast<clang::CXXMemberCallExpr>(of);
    const clang::CXXMethodDecl* method = by_name == nullptr ? nullptr : by_name->getMethodDecl();
    if (method != nullptr && !method->isConst() && is_given(by_name->getImplicitObjectArgument())) {
      note(by_name->getImplicitObjectArgument());
    }
  }
  for (const Stmt* child : of->children()) assigned_in(child, to);
}

Body::Body(Unit& unit, const clang::FunctionDecl& function, Unit::Home home)
    : unit_(unit), program_(unit.program), function_(function), home_(std::move(home)) {
  variable_names_ = [this](const VarDecl& variable) -> std::optional<std::string> {
    const auto at = state_.variables.find(&variable);
    if (at == state_.variables.end() || at->second.name.empty()) return std::nullopt;
    return at->second.name;
  };
  names_.insert("this");
}

ExprId Body::make(Kind kind, SourceLocation at, std::vector<ExprId> children, std::string name) {
  return program_.add({.kind = kind,
                       .position = unit_.position(at),
                       .name = std::move(name),
                       .children = std::move(children)});
}

ExprId Body::constant(const char* text, SourceLocation at) {
  return make(Kind::kConstant, at, {}, text);
}

ExprId Body::null(SourceLocation at) { return make(Kind::kNull, at, {}); }

// What a pointer leads to when it is set to null: nothing, but never to another object.
ExprId Body::gone(SourceLocation at) { return make(Kind::kNull, at, {}, std::string(core::kGone)); }

ExprId Body::name(const std::string& name, SourceLocation at) {
  return make(Kind::kVariable, at, {}, name);
}

ExprId Body::sequence(std::vector<ExprId> steps, SourceLocation at) {
  std::erase(steps, core::kNoExpr);
  if (steps.empty()) return core::kNoExpr;
  return steps.size() == 1 ? steps[0] : make(Kind::kSequence, at, std::move(steps));
}

// Those of a pack all have the same name.
std::string Body::parameter_name(const clang::ParmVarDecl& parameter) {
  const unsigned index = parameter.getFunctionScopeIndex();
  std::string name = parameter.getNameAsString();
  const auto* function = llvm::dyn_cast<clang::FunctionDecl>(parameter.getDeclContext());
  const auto same = [&](const clang::ParmVarDecl* other) {
    return other->getFunctionScopeIndex() < index &&
           other->getDeclName() == parameter.getDeclName();
  };
  const bool again = function != nullptr && std::ranges::any_of(function->parameters(), same);
  if (name.empty() || name == "this" || again) return name + "_" + std::to_string(index);
  return name;
}

ExprId Body::read() {
  const bool makes = llvm::isa<clang::CXXConstructorDecl>(function_);
  const core::Method& method = unit_.method_at(home_);
  for (const core::Parameter& parameter : method.parameters) names_.insert(parameter.name);
  // Those of a lambda come after what it captures, which is known already.
  const std::size_t captured = method.parameters.size() - (makes ? 0 : function_.param_size());
  const SourceLocation end = function_.getBodyRBrace();
  return block(
      [&] {
        for (const clang::ParmVarDecl* parameter : function_.parameters()) {
          core::Type type = unit_.parameter_type(*parameter);
          if (type.name == "int") continue;
          if (unit_.is_guard_parameter(*parameter)) {
            if (makes) continue;
            be_given(
                *parameter,
                unit_.method_at(home_).parameters[captured + parameter->getFunctionScopeIndex()]);
          } else if (makes) {
            state_.variables[parameter] = {.name = "x", .type = type};
            bind(*parameter, null(parameter->getLocation()), parameter->getLocation());
          } else {
            const std::size_t index = captured + parameter->getFunctionScopeIndex();
            state_.variables[parameter] = {.name = unit_.method_at(home_).parameters[index].name,
                                           .type = type};
          }
        }
        if (const auto* constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(&function_)) {
          for (const clang::CXXCtorInitializer* init : constructor->inits()) {
            const SourceLocation at = init->getSourceLocation();
            if (init->getInit() == nullptr) continue;
            if (!init->isAnyMemberInitializer()) {
              effect(init->getInit());
              continue;
            }
            const clang::FieldDecl& field = *init->getAnyMember();
            const core::Type stored = unit_.field_type(field);
            const Value value = expr(init->getInit(), Use::kRead);
            const auto* written =
                llvm::dyn_cast<clang::CXXConstructExpr>(init->getInit()->IgnoreImplicit());
            const bool trivial = written != nullptr && written->getNumArgs() == 0;
            if (unit_.lock_type(field.getType()) || (trivial && value.id == core::kNoExpr)) {
              emit(value.id);
              continue;
            }
            if (init->isIndirectMemberInitializer() || field.getType()->isArrayType()) {
              emit(value.id);
              continue;
            }
            const ExprId place =
                make(Kind::kField, at, {name("this", at)}, unit_.field_name(field));
            emit(make(Kind::kAssign, at, {place, coerce(value, stored, at)}));
          }
        }
        if (function_.isDependentContext()) {
          dependent(function_.getBody());
        } else {
          statement(function_.getBody());
        }
      },
      end);
}

// Blocks.

void Body::emit(ExprId id) {
  if (id == core::kNoExpr) return;
  const Kind kind = program_[id].kind;
  const bool idle = kind == Kind::kConstant || kind == Kind::kNull ||
                    (kind == Kind::kVariable && names_.contains(program_[id].name));
  if (!idle) blocks_.back().items.push_back({.id = id});
}

void Body::wrap(core::Expr expr) {
  ++wraps_;
  blocks_.back().items.push_back({.wrap = std::move(expr), .wraps = true});
}

ExprId Body::block(const Part& part, SourceLocation end, bool is_loop) {
  blocks_.push_back({.is_loop = is_loop});
  const auto bound = state_.bound;
  const std::size_t wraps = wraps_;
  part();
  // What was there before a synchronized block ends after it.
  std::map<std::string, ExprId> outside;
  const std::vector<const VarDecl*> locals = std::move(blocks_.back().locals);
  bool is_outside = false;
  for (auto at = locals.rbegin(); at != locals.rend() && state_.reachable; ++at) {
    const auto guard = state_.guards.find(*at);
    is_outside |= guard != state_.guards.end() && guard->second.by_block;
    if (is_outside && guard == state_.guards.end()) {
      outside.emplace(state_.variables[*at].name, destruction(**at, end));
    } else {
      end_local(**at, end);
    }
  }
  for (const VarDecl* local : locals) state_.guards.erase(local);
  std::vector<Item> items = std::move(blocks_.back().items);
  blocks_.pop_back();
  state_.bound = bound;
  std::erase_if(state_.objects, [&](const Named& object) { return object.block > blocks_.size(); });
  wraps_ = wraps;
  std::vector<ExprId> rest;
  for (auto item = items.rbegin(); item != items.rend(); ++item) {
    if (!item->wraps) {
      rest.push_back(item->id);
      continue;
    }
    core::Expr& around = item->wrap;
    const auto ends = around.kind == Kind::kLet ? outside.find(around.name) : outside.end();
    if (ends != outside.end() && ends->second != core::kNoExpr) {
      rest.insert(rest.begin(), ends->second);
    }
    std::reverse(rest.begin(), rest.end());
    if (around.kind == Kind::kSync) around.end = unit_.position(end);
    const core::Position at = around.position;
    around.children.push_back(
        rest.size() == 1
            ? rest[0]
            : program_.add({.kind = Kind::kSequence, .position = at, .children = std::move(rest)}));
    rest = {program_.add(std::move(around))};
  }
  std::reverse(rest.begin(), rest.end());
  if (rest.size() == 1 && core::ends_with_brace(program_[rest[0]].kind)) return rest[0];
  return make(Kind::kSequence, end, std::move(rest));
}

// The method returns: first its local variables end, and give back what guards hold.
void Body::leave(SourceLocation at, ExprId last) {
  bool ends = false;
  for (const auto& [variable, guard] : state_.guards) {
    ends |= !guard.by_block && !guard.is_lent && (guard.held == Held::kYes) != guard.inverted;
  }
  for (const Block& around : blocks_) {
    ends |= std::ranges::any_of(around.locals, [&](const VarDecl* local) {
      return !state_.guards.contains(local) && !local->isNRVOVariable();
    });
  }
  if (ends && last != core::kNoExpr) {
    emit(last);
    last = core::kNoExpr;
    if (state_.reachable) end_locals(0, at);
    const auto type = unit_.type_of(function_.getReturnType());
    last = coerce({}, type, at);
  } else if (state_.reachable) {
    end_locals(0, at);
  }
  emit(make(Kind::kReturn, at, last == core::kNoExpr ? std::vector<ExprId>{} : std::vector{last}));
  state_.reachable = false;
}

void Body::end_locals(std::size_t from_block, SourceLocation at) {
  for (std::size_t i = blocks_.size(); i > from_block; --i) {
    const std::vector<const VarDecl*> locals = blocks_[i - 1].locals;
    for (auto local = locals.rbegin(); local != locals.rend(); ++local) end_local(**local, at);
  }
}

void Body::end_local(const VarDecl& variable, SourceLocation at) {
  const auto known = state_.guards.find(&variable);
  if (known == state_.guards.end()) {
    emit(destruction(variable, at));
    return;
  }
  const Guard guard = known->second;
  if (guard.by_block) return;
  for (const LockPath& lock : guard.locks) {
    if (guard.inverted) {
      lock_step(Kind::kLock, lock, at, guard.is_shared);
      if (guard.opens != nullptr) state_.guards[guard.opens].held = Held::kYes;
    } else if (guard.held == Held::kYes) {
      lock_step(Kind::kUnlock, lock, at);
    }
  }
}

// Of an object that is returned, others see to that.
ExprId Body::destruction(const VarDecl& object, SourceLocation at) {
  const std::string& known = state_.variables[&object].name;
  if (known.empty() || object.isNRVOVariable()) return core::kNoExpr;
  const clang::CXXDestructorDecl* ends = object.getType()->getAsCXXRecordDecl()->getDestructor();
  return make(Kind::kCall, at, {name(known, at)}, unit_.method_name(*ends));
}

// In the core, what a way out ends is inside the synchronized blocks that it leaves; so a guard
// that comes after an object with a destructor is none, if there is one.
bool Body::is_left_early() const {
  const std::function<bool(const Stmt*)> leaves = [&](const Stmt* in) {
    return in != nullptr && !llvm::isa<clang::LambdaExpr>(in) &&
           (llvm::isa<clang::ReturnStmt, clang::BreakStmt, clang::ContinueStmt, clang::GotoStmt>(
                in) ||
            std::ranges::any_of(in->children(), leaves));
  };
  const bool has_objects = std::ranges::any_of(blocks_, [&](const Block& around) {
    return std::ranges::any_of(
        around.locals, [&](const VarDecl* local) { return !state_.guards.contains(local); });
  });
  return has_objects && leaves(function_.getBody());
}

// A block of its own. What was assigned in it has no name outside.
void Body::nested(const Part& part, SourceLocation end) {
  const State before = state_;
  emit(block(part, end));
  const State after = state_;
  meet(before, after, after);
}

std::string Body::fresh(const std::string& wanted) {
  std::string made = wanted.empty() ? "x" : wanted;
  for (unsigned i = 2; !names_.insert(made).second; ++i) {
    made = wanted + "'" + std::to_string(i);
  }
  return made;
}

void Body::bind(const VarDecl& variable, ExprId value, SourceLocation at) {
  forget_objects(variable);
  Variable& of = state_.variables[&variable];
  if (wraps_ > kMaxWraps) {
    emit(value);
    of.name.clear();
    return;
  }
  of.name = fresh(variable.getNameAsString());
  wrap({.kind = Kind::kLet,
        .position = unit_.position(at),
        .name = of.name,
        .display = variable.getNameAsString(),
        .children = {value},
        .type = of.type});
}

void Body::forget(const VarDecl& variable) {
  forget_objects(variable);
  const auto at = state_.variables.find(&variable);
  if (at != state_.variables.end() && !at->second.name.empty() && !at->second.is_object) {
    bind(variable, null(variable.getLocation()), variable.getLocation());
  }
}

void Body::forget_assigned(const Stmt* in) {
  std::set<const VarDecl*> assigned;
  assigned_in(in, assigned);
  for (const VarDecl* variable : assigned) {
    state_.tries.erase(variable);
    if (is_pointer_itself(variable->getType())) {
      forget(*variable);
    } else {
      forget_objects(*variable);
    }
  }
}

// An `if`, after which both ways go on together. A guard that holds its lock on one of them only
// gives it back at the end of that: from there on it cannot be said to be held.
void Body::join(ExprId decides, After yes, After no, const State& before, SourceLocation at) {
  const auto level = [&](After& after, const State& other) {
    if (!after.state.reachable || !other.reachable) return;
    std::vector<ExprId> steps = {after.way};
    for (auto& [variable, guard] : after.state.guards) {
      const auto there = other.guards.find(variable);
      if (there == other.guards.end() || guard.held != Held::kYes ||
          there->second.held != Held::kNo || guard.locks != there->second.locks || guard.by_block ||
          guard.inverted || guard.is_lent) {
        continue;
      }
      for (const LockPath& lock : guard.locks) {
        steps.push_back(make(Kind::kUnlock, at, {lock_expr(lock, at)}));
      }
      guard.held = Held::kNo;
    }
    if (steps.size() > 1) after.way = make(Kind::kSequence, at, std::move(steps));
  };
  level(yes, no.state);
  level(no, yes.state);
  emit(make(Kind::kIf, at, {decides, yes.way, no.way}));
  meet(before, yes.state, no.state);
}

// Where two ways meet.
void Body::meet(const State& before, const State& a, const State& b) {
  state_ = before;
  state_.reachable = a.reachable || b.reachable;
  for (const State* way : {&a, &b}) {
    if (!way->reachable) continue;
    std::erase_if(state_.objects, [&](const Named& object) {
      return std::ranges::find(way->objects, object.name, &Named::name) == way->objects.end();
    });
  }
  for (const State* way : {&a, &b}) {
    if (!way->reachable) continue;
    std::erase_if(state_.tries, [&](const auto& one) { return !way->tries.contains(one.first); });
  }
  for (auto& [variable, guard] : state_.guards) {
    const auto in_a = a.guards.find(variable);
    const auto in_b = b.guards.find(variable);
    if (in_a == a.guards.end() || in_b == b.guards.end()) continue;
    if (!a.reachable || !b.reachable) {
      guard = a.reachable ? in_a->second : in_b->second;
    } else {
      guard = in_a->second;
      const bool is_same = guard.held == in_b->second.held && guard.locks == in_b->second.locks;
      if (!is_same) guard.held = Held::kMaybe;
      guard.tried = guard.tried && in_b->second.tried;
    }
  }
  for (const auto& [variable, known] : before.variables) {
    const auto in_a = a.variables.find(variable);
    const auto in_b = b.variables.find(variable);
    const bool same_a = in_a == a.variables.end() || in_a->second.name == known.name;
    const bool same_b = in_b == b.variables.end() || in_b->second.name == known.name;
    if (!same_a || !same_b) forget(*variable);
  }
}

// A part that may be left out.
void Body::maybe(const Part& part, SourceLocation at, SourceLocation end) {
  const State before = state_;
  ++depth_;
  const ExprId yes = block(part, end);
  --depth_;
  const State after = state_;
  state_ = before;
  join(constant("\"?\"", at), {yes, after}, {make(Kind::kSequence, at, {}), before}, before, at);
}

// Up to some step. What is held is another matter only after those that change it.
void Body::steps_of(llvm::ArrayRef<const Stmt*> steps) {
  if (steps.empty()) return;
  const auto part = [&] {
    for (std::size_t i = 0; i < steps.size() && state_.reachable; ++i) {
      statement(steps[i]);
      if (!state_.reachable || !changes_locks(steps[i])) continue;
      steps_of(steps.drop_front(i + 1));
      return;
    }
  };
  maybe(part, steps.front()->getBeginLoc(), steps.back()->getEndLoc());
}

void Body::one_of(llvm::ArrayRef<const Stmt*> ways) {
  if (ways.size() == 1) return statement(ways.front());
  const SourceLocation at = ways.front()->getBeginLoc();
  const State before = state_;
  const ExprId yes = block([&] { statement(ways.front()); }, ways.front()->getEndLoc());
  const State after_yes = state_;
  state_ = before;
  const ExprId no = block([&] { one_of(ways.drop_front()); }, at);
  join(constant("\"?\"", at), {yes, after_yes}, {no, state_}, before, at);
}

// Anything in it may be left out, and then a handler may come. If it changes what is held, that is
// what is held after some of its steps, and all of them are done where no handler comes.
// A guard that was told something deep inside may have given back its lock when that was left.
void Body::give_back_told(const Stmt& in) {
  std::vector<const VarDecl*> told;
  for (const auto& [variable, guard] : state_.guards) {
    if (guard.held == Held::kYes && is_told(*variable, &in)) told.push_back(variable);
  }
  for (const VarDecl* guard : told) {
    change_guard(*guard, LockCall::Kind::kUnlock, false, in.getEndLoc());
  }
}

void Body::try_statement(const clang::CXXTryStmt& of) {
  if (trials_ < kMaxTrials && changes_locks(of.getTryBlock())) {
    ++trials_;
    const SourceLocation at = of.getBeginLoc();
    const SourceLocation end = of.getEndLoc();
    const State before = state_;
    const ExprId all = block([&] { statement(of.getTryBlock()); }, end);
    const State after_all = state_;
    state_ = before;
    std::vector<const Stmt*> handlers;
    handlers.reserve(of.getNumHandlers());
    for (unsigned i = 0; i < of.getNumHandlers(); ++i) {
      handlers.push_back(of.getHandler(i)->getHandlerBlock());
    }
    const auto part = [&] {
      const std::vector<const Stmt*> steps(of.getTryBlock()->body_begin(),
                                           of.getTryBlock()->body_end());
      nested([&] { steps_of(steps); }, of.getTryBlock()->getEndLoc());
      give_back_told(*of.getTryBlock());
      one_of(handlers);
    };
    const ExprId handled = block(part, end);
    --trials_;
    join(constant("\"?\"", at), {all, after_all}, {handled, state_}, before, at);
    return;
  }
  const auto maybe_run = [&](const Stmt* part) {
    maybe([&] { statement(part); }, part->getBeginLoc(), part->getEndLoc());
  };
  maybe_run(of.getTryBlock());
  for (unsigned i = 0; i < of.getNumHandlers(); ++i) maybe_run(of.getHandler(i)->getHandlerBlock());
}

}  // namespace tomos::cpp
