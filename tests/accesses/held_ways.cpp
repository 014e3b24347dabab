// What each function surely holds at each place, by a forward analysis of Clang's control flow
// graph: where ways meet, what is held is what is held on all of them. It knows guards, by their
// variables, with all that may happen to them, and locks that are taken and given back by name. A
// lock is the last member or variable that leads to it. Whoever is given a guard may do anything
// with it, unless its body shows that it gives it back as it was.
#include "accesses/held_ways.h"

#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Analysis/CFG.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "accesses/way_walker.h"

namespace accesses {

namespace {

using clang::Expr;
using clang::FunctionDecl;
using clang::Stmt;
using clang::VarDecl;

template <class Map>
void keep_same(Map& kept, const Map& other) {
  std::erase_if(kept, [&](const auto& one) {
    const auto at = other.find(one.first);
    return at == other.end() || at->second != one.second;
  });
}

Way meet(Way a, const Way& b) {
  std::erase_if(a.guards, [&](const auto& one) { return !b.guards.contains(one.first); });
  for (auto& [key, guard] : a.guards) {
    const GuardState& other = b.guards.at(key);
    std::erase_if(guard.locks,
                  [&](const std::string& lock) { return !other.locks.contains(lock); });
    guard.held &= other.held;
    guard.was_held &= other.was_held;
    guard.loose |= other.loose;
    guard.robbed &= other.robbed;
  }
  std::erase_if(a.taken, [&](const auto& one) { return !b.taken.contains(one.first); });
  for (auto& [lock, depth] : a.taken) depth = std::min(depth, b.taken.at(lock));
  for (const auto& [lock, depth] : b.retaken) a.retaken[lock] = std::max(depth, a.retaken[lock]);
  a.owed.insert(b.owed.begin(), b.owed.end());
  keep_same(a.pointees, b.pointees);
  keep_same(a.answers, b.answers);
  keep_same(a.openers, b.openers);
  return a;
}

}  // namespace

void WayWalker::find_trials(const Stmt* of) {
  if (of == nullptr || llvm::isa<clang::LambdaExpr>(of)) return;
  if (const auto* tries = llvm::dyn_cast<clang::CXXTryStmt>(of)) {
    Trial made = {.of = tries};
    const auto add = [&](const auto& self, const Stmt* part) -> void {
      if (part == nullptr) return;
      made.inside.insert(part);
      if (const auto* declares = llvm::dyn_cast<clang::DeclStmt>(part)) {
        made.guards.insert(declares->decl_begin(), declares->decl_end());
      }
      for (const Stmt* child : part->children()) self(self, child);
    };
    add(add, tries->getTryBlock());
    trials_.push_back(std::move(made));
  }
  for (const Stmt* child : of->children()) find_trials(child);
}

void WayWalker::run() {
  clang::CFG::BuildOptions options;
  options.AddInitializers = true;
  options.AddImplicitDtors = true;
  options.AddTemporaryDtors = true;
  options.AddCXXDefaultInitExprInCtors = true;
  options.setAllAlwaysAdd();
  const auto graph =
      clang::CFG::buildCFG(&function_, function_.getBody(), &known_.context, options);
  if (graph == nullptr) {  // Clang makes none of `if consteval`
    dead_ = notes_ = true;
    note_uses(*function_.getBody(), true);
    return;
  }
  find_trials(function_.getBody());
  for (const clang::CFGBlock* one : *graph) {
    if (one->getLabel() != nullptr) handlers_[one->getLabel()] = one;
  }
  Way first;
  std::vector<const VarDecl*> given = guards_captured(function_);
  for (const clang::ParmVarDecl* parameter : function_.parameters()) {
    if (known_.names.is_guard(parameter->getType())) given.push_back(parameter);
  }
  for (const VarDecl* guard : given) {
    first.guards[guard] = {.locks = {guard->getNameAsString()}, .held = true};
  }
  reach(&graph->getEntry(), first);
  // What is known of a place is less each time; far less often than this.
  for (std::size_t left = std::size_t{200} * graph->size(); !open_.empty(); --left) {
    if (left == 0) return;
    const clang::CFGBlock* next = *open_.begin();
    open_.erase(open_.begin());
    block(*next);
  }
  notes_ = true;
  for (const clang::CFGBlock* one : *graph) {
    dead_ = !reached_.contains(one);
    block(*one);
  }
  if (!reached_.contains(&graph->getExit())) return;
  const Way& last = reached_.at(&graph->getExit());
  effects_.drops = last.owed;
  for (const auto& [lock, depth] : last.taken) {
    const auto again = last.retaken.find(lock);
    if (depth > (again == last.retaken.end() ? 0 : again->second)) effects_.leaves.insert(lock);
  }
  for (const VarDecl* one : given) {
    const auto guard = last.guards.find(one);
    if (guard != last.guards.end() && guard->second.held && !guard->second.loose) {
      effects_.kept.insert(one);
    }
  }
}

void WayWalker::reach(const clang::CFGBlock* block, const Way& way) {
  if (block == nullptr || notes_) return;
  const auto [at, is_new] = reached_.try_emplace(block, way);
  if (!is_new) {
    Way met = meet(at->second, way);
    if (met == at->second) return;
    at->second = std::move(met);
  }
  open_.insert(block);
}

void WayWalker::block(const clang::CFGBlock& of) {
  way_ = dead_ ? Way() : reached_.at(&of);
  for (const clang::CFGElement& one : of) element(one);
  if (dead_ || notes_) return;
  const Expr* condition = of.succ_size() == 2 ? of.getLastCondition() : nullptr;
  const auto test = condition == nullptr ? std::nullopt : asked(condition);
  bool is_true = true;
  for (const clang::CFGBlock::AdjacentBlock& next : of.succs()) {
    const Way before = way_;
    if (test) answer(*test, is_true);
    // What is thrown does not come back to the caller here.
    const bool throws =
        !of.empty() && of.back().getAs<clang::CFGStmt>() &&
        llvm::isa<clang::CXXThrowExpr>(of.back().castAs<clang::CFGStmt>().getStmt());
    if (!throws) reach(next.getReachableBlock(), way_);
    way_ = before;
    is_true = false;
  }
}

void WayWalker::element(const clang::CFGElement& of) {
  if (const auto is_statement = of.getAs<clang::CFGStmt>()) {
    statement(*is_statement->getStmt());
  } else if (const auto ends = of.getAs<clang::CFGAutomaticObjDtor>()) {
    end(ends->getVarDecl());
    const clang::CXXDestructorDecl* destructor = ends->getDestructorDecl(known_.context);
    if (destructor != nullptr && !known_.names.is_guard(ends->getVarDecl()->getType())) {
      note(ends->getTriggerStmt()->getEndLoc(), destructor->getNameAsString() + "()");
      apply(*destructor, {});
      if (const auto opener = way_.openers.find(ends->getVarDecl()); opener != way_.openers.end()) {
        end_opener(way_, opener->first);
        // The front end takes the lock before the destructor is called.
        note(ends->getTriggerStmt()->getEndLoc(), destructor->getNameAsString() + "()");
      }
    }
  } else if (const auto dies = of.getAs<clang::CFGTemporaryDtor>()) {
    end(dies->getBindTemporaryExpr());
  } else if (const auto begins = of.getAs<clang::CFGInitializer>()) {
    const clang::CXXCtorInitializer& init = *begins->getInitializer();
    if (init.isAnyMemberInitializer()) {
      note(init.getSourceLocation(), init.getAnyMember()->getNameAsString());
    }
    // A guard that is made of another one keeps the lock.
    if (const auto guard = guard_made(init.getInit()); guard && guard->held) {
      for (const std::string& lock : guard->locks) take(lock);
    }
  }
}

void WayWalker::end_opener(Way& way, const VarDecl* opener) {
  const auto at = way.openers.find(opener);
  GuardState& guard = way.guards[at->second];
  guard.loose = false;
  guard.held = !guard.locks.empty();
  way.openers.erase(at);
}

// A handler begins with what is held before any call that may throw, without the guards inside.
void WayWalker::may_throw(const Stmt& of) {
  if (notes_ || dead_) return;
  for (const Trial& trial : trials_) {
    if (!trial.inside.contains(&of)) continue;
    Way way = way_;
    for (const auto& [opener, guard] : way_.openers) {
      if (trial.guards.contains(opener)) end_opener(way, opener);
    }
    std::erase_if(way.guards, [&](const auto& one) { return trial.guards.contains(one.first); });
    for (unsigned i = 0; i < trial.of->getNumHandlers(); ++i) {
      const auto at = handlers_.find(trial.of->getHandler(i));
      if (at != handlers_.end()) reach(at->second, way);
    }
  }
}

void WayWalker::note(clang::SourceLocation at, const std::string& name) {
  if (!notes_ || known_.to == nullptr) return;
  const auto add = [&](HeldLocks& to) {
    to.names.merge(way_.held());
    to.is_dead |= dead_;
  };
  const clang::SourceManager& manager = known_.context.getSourceManager();
  const auto place = place_of(manager, at);
  if (!place) return;
  HeldAt& here = (*known_.to)[*place];
  add(here.any);
  if (!name.empty()) add(here.uses[name]);
}

void WayWalker::note_uses(const Stmt& of, bool deep) {
  std::string name;
  clang::SourceLocation at = of.getBeginLoc();
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(&of)) {
    at = member->getMemberLoc();
    if (llvm::isa<clang::FieldDecl, VarDecl>(member->getMemberDecl())) {
      name = member->getMemberDecl()->getNameAsString();
    }
  } else if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(&of)) {
    const auto* variable = llvm::dyn_cast<VarDecl>(reference->getDecl());
    if (variable != nullptr && variable->hasGlobalStorage()) name = variable->getNameAsString();
  } else if (const auto* calls = llvm::dyn_cast<clang::CallExpr>(&of)) {
    at = calls->getExprLoc();
    const FunctionDecl* callee = calls->getDirectCallee();
    if (callee != nullptr && callee->getDeclName().isIdentifier()) {
      name = callee->getNameAsString() + "()";
    }
  }
  note(at, name);
  if (!deep) return;
  for (const Stmt* child : of.children()) {
    if (child != nullptr) note_uses(*child, true);
  }
}

void WayWalker::statement(const Stmt& of) {
  note_uses(of, false);
  if (const auto* fallback = llvm::dyn_cast<clang::CXXDefaultArgExpr>(&of)) {
    note_uses(*fallback->getExpr(), true);
  } else if (const auto* initial = llvm::dyn_cast<clang::CXXDefaultInitExpr>(&of)) {
    note_uses(*initial->getExpr(), true);
  } else if (const auto* calls = llvm::dyn_cast<clang::CallExpr>(&of)) {
    may_throw(of);
    call(*calls);
  } else if (const auto* makes = llvm::dyn_cast<clang::CXXConstructExpr>(&of)) {
    may_throw(of);
    const std::vector<const Expr*> arguments(makes->arg_begin(), makes->arg_end());
    // What becomes of a guard that another is made of is told where that is declared.
    if (known_.names.is_guard(*makes->getConstructor()->getParent())) return;
    if (makes->getConstructor()->getParent()->isLambda()) return;
    pass(makes->getConstructor(), arguments);
    apply(*makes->getConstructor(), arguments);
  } else if (llvm::isa<clang::CXXThrowExpr, clang::CXXNewExpr>(&of)) {
    may_throw(of);
  } else if (const auto* declares = llvm::dyn_cast<clang::DeclStmt>(&of)) {
    for (const clang::Decl* one : declares->decls()) {
      if (const auto* variable = llvm::dyn_cast<VarDecl>(one)) declare(*variable);
    }
  } else if (const auto* bound = llvm::dyn_cast<clang::CXXBindTemporaryExpr>(&of)) {
    if (auto guard = guard_made(bound->getSubExpr())) way_.guards[bound] = std::move(*guard);
  } else if (const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(&of)) {
    const VarDecl* variable = binary->isAssignmentOp() ? variable_of(binary->getLHS()) : nullptr;
    if (variable == nullptr) return;
    way_.answers.erase(variable);
    if (auto test = asked(binary->getRHS())) way_.answers[variable] = std::move(*test);
    set_pointee(*variable, binary->getOpcode() == clang::BO_Assign ? binary->getRHS() : nullptr);
  } else if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(&of)) {
    const VarDecl* variable = variable_of(unary->getSubExpr());
    const bool changes = unary->isIncrementDecrementOp() || unary->getOpcode() == clang::UO_AddrOf;
    if (variable == nullptr || !changes) return;
    way_.answers.erase(variable);
    set_pointee(*variable, nullptr);
  }
}

Effects effects_of(Known& known, const FunctionDecl& callee) {
  const FunctionDecl* definition = callee.getDefinition();
  if (definition == nullptr || !definition->hasBody() || definition->isDependentContext() ||
      is_foreign(known.context, definition->getLocation())) {
    return {};
  }
  // One that calls itself does nothing more there.
  const auto [at, is_new] = known.effects.try_emplace(definition);
  if (!is_new) return at->second;
  HeldPlaces* const to = std::exchange(known.to, nullptr);
  WayWalker walker(known, *definition);
  walker.run();
  known.to = to;
  return known.effects[definition] = walker.effects();
}

namespace {

class FunctionFinder : public clang::RecursiveASTVisitor<FunctionFinder> {
 public:
  FunctionFinder(clang::ASTContext& context, HeldPlaces& to)
      : known_{.context = context, .to = &to} {}

  static bool shouldVisitTemplateInstantiations() { return true; }

  bool TraverseDecl(clang::Decl* of) {
    const bool is_others =
        of != nullptr && is_foreign(known_.context, of->getLocation()) &&
        !llvm::isa<clang::NamespaceDecl, clang::TranslationUnitDecl, clang::LinkageSpecDecl>(of);
    return is_others || RecursiveASTVisitor::TraverseDecl(of);
  }

  bool VisitFunctionDecl(FunctionDecl* of) {
    walk(*of);
    return true;
  }

  bool VisitLambdaExpr(clang::LambdaExpr* of) {
    walk(*of->getCallOperator());
    const auto* generic = of->getDependentCallOperator();
    if (generic == nullptr) return true;
    for (const FunctionDecl* one : generic->specializations()) walk(*one);
    return true;
  }

 private:
  // What locks and guards do themselves to what they are made of is not told of.
  void walk(const FunctionDecl& of) {
    const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&of);
    if (!of.doesThisDeclarationHaveABody() || of.isDependentContext()) return;
    if (method != nullptr && (known_.names.is_lock(*method->getParent()) ||
                              known_.names.is_guard(*method->getParent()))) {
      return;
    }
    WayWalker(known_, of).run();
  }

  Known known_;
};

}  // namespace

void note_held(clang::ASTContext& context, HeldPlaces& to) {
  FunctionFinder(context, to).TraverseDecl(context.getTranslationUnitDecl());
}

}  // namespace accesses
