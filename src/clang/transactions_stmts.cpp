// Statements: ways, blocks that are transactions, and scopes that hold locks.
#include <clang/Basic/Builtins.h>

#include <algorithm>
#include <string>

#include "clang/transactions.h"
#include "clang/unit.h"

namespace tomos::cpp {

using clang::Expr;
using clang::SourceLocation;
using clang::Stmt;
using clang::VarDecl;
using tm::NodeId;

namespace {

bool is_atomic_mark(const clang::AttributedStmt& of) {
  return std::ranges::any_of(of.getAttrs(), [](const clang::Attr* attribute) {
    const auto* suppress = llvm::dyn_cast<clang::SuppressAttr>(attribute);
    return suppress != nullptr &&
           std::ranges::any_of(suppress->diagnosticIdentifiers(),
                               [](llvm::StringRef name) { return name == "tm.atomic"; });
  });
}

const VarDecl* single_variable(const Stmt* of) {
  const auto* declares = llvm::dyn_cast_or_null<clang::DeclStmt>(of);
  return declares != nullptr && declares->isSingleDecl()
             ? llvm::dyn_cast<VarDecl>(declares->getSingleDecl())
             : nullptr;
}

bool is_variable(const clang::Decl* one) { return llvm::isa<VarDecl>(one); }

}  // namespace

bool TransactionUnit::declares_guard(const clang::DeclStmt& of) {
  return std::ranges::all_of(of.decls(), is_variable) &&
         std::ranges::any_of(of.decls(), [](const clang::Decl* one) {
           return holds_guard(llvm::cast<VarDecl>(one)->getType());
         });
}

NodeId TransactionUnit::atomic(NodeId body, SourceLocation at, SourceLocation end) {
  return program_.add(
      {.kind = Kind::kAtomic, .children = {body}, .position = position(at), .end = position(end)});
}

std::string TransactionUnit::called_by(const Stmt* of) const {
  const auto* expression = llvm::dyn_cast_or_null<Expr>(of);
  if (expression == nullptr) return "";
  const auto* call = llvm::dyn_cast<clang::CallExpr>(expression->IgnoreImplicit());
  const clang::FunctionDecl* callee = call == nullptr ? nullptr : call->getDirectCallee();
  if (callee == nullptr) return "";
  if (callee->getBuiltinID() != clang::Builtin::BI__builtin_annotation) {
    return callee->getQualifiedNameAsString();
  }
  const auto* text = llvm::dyn_cast<clang::StringLiteral>(call->getArg(1)->IgnoreParenCasts());
  return text == nullptr ? "" : text->getString().str();
}

// The rest of the block after a guard, a scope or the call that begins a transaction is inside it.
NodeId TransactionUnit::block(llvm::ArrayRef<const Stmt*> list, SourceLocation at,
                              SourceLocation end) {
  std::vector<NodeId> parts;
  std::vector<const VarDecl*> joined_at_end;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const llvm::ArrayRef<const Stmt*> rest = list.drop_front(i + 1);
    if (const VarDecl* one = single_variable(list[i])) {
      const clang::RecordDecl* record = one->getType()->getAsRecordDecl();
      if (record != nullptr &&
          std::ranges::find(styles_.scopes, record->getQualifiedNameAsString()) !=
              styles_.scopes.end()) {
        parts.push_back(atomic(block(rest, at, end), one->getLocation(), end));
        break;
      }
      const NodeId scope = scope_of(*one, end, [&] { return block(rest, at, end); });
      if (scope != tm::kNoNode) {
        parts.push_back(scope);
        break;
      }
      if (one->getType().getAsString().find("jthread") != std::string::npos) {
        joined_at_end.push_back(one);
      }
    } else if (const auto* several = llvm::dyn_cast_or_null<clang::DeclStmt>(list[i]);
               several != nullptr && declares_guard(*several)) {
      parts.push_back(scope_of_all(*several, end, [&] { return block(rest, at, end); }, 0));
      break;
    }
    if (const std::string name = called_by(list[i]); !name.empty()) {
      const auto style =
          std::ranges::find(styles_.calls, name, &std::pair<std::string, std::string>::first);
      if (style != styles_.calls.end()) {
        const auto last = std::ranges::find_if(
            rest, [&](const Stmt* child) { return called_by(child) == style->second; });
        const auto count = static_cast<std::size_t>(last - rest.begin());
        const SourceLocation to =
            last == rest.end() || *last == nullptr ? end : (*last)->getEndLoc();
        parts.push_back(atomic(block(rest.take_front(count), at, to), list[i]->getBeginLoc(), to));
        i += count + 1;
        continue;
      }
    }
    parts.push_back(statement(list[i]));
  }
  for (const VarDecl* thread : joined_at_end) {
    parts.push_back(make(Kind::kJoin, end, {variable(*thread, end)}));
  }
  return make(Kind::kSequence, at, std::move(parts));
}

NodeId TransactionUnit::declaration(const VarDecl& of) {
  const SourceLocation at = of.getLocation();
  if (of.isStaticLocal() || of.hasExternalStorage()) {
    if (of.getInit() == nullptr || of.hasExternalStorage()) return constant(at);
    const NodeId to = make(Kind::kGlobal, at);
    program_.nodes[static_cast<std::size_t>(to)].number = global(of);
    global_initializers_.push_back(initialize(to, of.getType(), of.getInit()));
    return constant(at);
  }
  const NodeId to = local(slot(of), at);
  if (of.getInit() == nullptr) return constant(at);
  return initialize(to, of.getType(), of.getInit());
}

NodeId TransactionUnit::range_loop(const clang::CXXForRangeStmt& of) {
  const SourceLocation at = of.getBeginLoc();
  const Expr* range = of.getRangeInit();
  const VarDecl& element = *of.getLoopVariable();
  NodeId whole = place(range);
  const NodeId tested = is_foreign(range->getType()) ? load(whole, at) : constant(at);
  NodeId inner = range->getType().getNonReferenceType()->isArrayType()
                     ? make(Kind::kElement, at, {whole})
                     : whole;
  const NodeId to = local(slot(element), at);
  NodeId set = tm::kNoNode;
  if (element.getType()->isReferenceType()) {
    set = make(Kind::kAssign, at, {to, address(inner, at)});
  } else if (is_object(element.getType())) {
    set = make(Kind::kCopy, at, {to, inner}, class_name(*element.getType()->getAsRecordDecl()));
  } else {
    set = make(Kind::kAssign, at, {to, load(inner, at)});
  }
  const NodeId body = make(Kind::kSequence, at, {set, statement(of.getBody())});
  return make(Kind::kLoop, at, {tested, body});
}

// Any case may be the one, and runs on into those after it until a break.
NodeId TransactionUnit::switch_statement(const clang::SwitchStmt& of) {
  const SourceLocation at = of.getBeginLoc();
  const auto* body = llvm::dyn_cast_or_null<clang::CompoundStmt>(of.getBody());
  const NodeId chosen = value(of.getCond());
  if (body == nullptr) return make(Kind::kSequence, at, {chosen, statement(of.getBody())});
  struct Case {
    std::vector<const clang::SwitchCase*> labels;
    std::vector<NodeId> run;
    bool falls_through = true;
  };
  std::vector<Case> cases;
  for (const Stmt* child : body->body()) {
    while (const auto* label = llvm::dyn_cast<clang::SwitchCase>(child)) {
      if (cases.empty() || !cases.back().run.empty()) cases.emplace_back();
      cases.back().labels.push_back(label);
      child = label->getSubStmt();
    }
    if (cases.empty()) continue;
    cases.back().run.push_back(statement(child));
    cases.back().falls_through = !ends_way(child);
  }
  // A slot for the choice, so that it is evaluated once.
  const std::uint32_t choice = temporary();
  const NodeId test = load(local(choice, at), at);
  const auto is_chosen = [&](const Case& of_these) {
    const auto* label = llvm::dyn_cast<clang::CaseStmt>(of_these.labels.front());
    const bool known =
        of_these.labels.size() == 1 && label != nullptr && !label->caseStmtIsGNURange();
    if (!known) return make(Kind::kOperator, at, {test});
    return make(Kind::kCompare, at, {test, value(label->getLHS())});
  };
  // One after the other: whichever is chosen leaves the loop in the end.
  const NodeId leave = make(Kind::kBreak, at);
  const NodeId nothing = make(Kind::kSequence, at, {});
  std::vector<NodeId> following;
  std::vector<NodeId> ways = {leave};
  for (auto one = cases.rbegin(); one != cases.rend(); ++one) {
    if (!one->falls_through) following.clear();
    following.insert(following.begin(), one->run.begin(), one->run.end());
    std::vector<NodeId> run = following;
    run.push_back(leave);
    ways.push_back(
        make(Kind::kIf, at, {is_chosen(*one), make(Kind::kSequence, at, std::move(run)), nothing}));
  }
  std::ranges::reverse(ways);
  const NodeId inside = make(Kind::kSequence, at, std::move(ways));
  return make(Kind::kSequence, at,
              {make(Kind::kAssign, at, {local(choice, at), chosen}),
               make(Kind::kLoop, at, {tm::kNoNode, inside})});
}

NodeId TransactionUnit::if_statement(const clang::IfStmt& of) {
  const SourceLocation at = of.getBeginLoc();
  const auto decide = [&] {
    if (const auto taken = compiled_part(of, context_)) return statement(*taken);
    const NodeId condition = value(of.getCond());
    return make(Kind::kIf, at, {condition, statement(of.getThen()), statement(of.getElse())});
  };
  return begun_with(of.getInit(), of.getConditionVariable(), of.getEndLoc(), decide);
}

NodeId TransactionUnit::statement(const Stmt* of) {
  if (of == nullptr) return make(Kind::kSequence, {}, {});
  const SourceLocation at = of->getBeginLoc();
  if (const auto* compound = llvm::dyn_cast<clang::CompoundStmt>(of)) {
    std::vector<const Stmt*> list(compound->body_begin(), compound->body_end());
    return block(list, at, compound->getRBracLoc());
  }
  if (const auto* marked = llvm::dyn_cast<clang::AttributedStmt>(of)) {
    const NodeId body = statement(marked->getSubStmt());
    return is_atomic_mark(*marked) ? atomic(body, at, of->getEndLoc()) : body;
  }
  if (const auto* declares = llvm::dyn_cast<clang::DeclStmt>(of)) {
    std::vector<NodeId> parts;
    for (const clang::Decl* decl : declares->decls()) {
      if (const auto* record = llvm::dyn_cast<clang::RecordDecl>(decl)) read_later(*record);
      if (const auto* one = llvm::dyn_cast<VarDecl>(decl)) parts.push_back(declaration(*one));
      if (const auto* bound = llvm::dyn_cast<clang::DecompositionDecl>(decl)) {
        for (const clang::BindingDecl* binding : bound->bindings()) {
          if (const VarDecl* holds = binding->getHoldingVar()) {
            parts.push_back(declaration(*holds));
          }
        }
      }
    }
    return make(Kind::kSequence, at, std::move(parts));
  }
  if (const auto* tests = llvm::dyn_cast<clang::IfStmt>(of)) return if_statement(*tests);
  if (const auto* loops = llvm::dyn_cast<clang::WhileStmt>(of)) {
    clang::Expr::EvalResult result;
    const bool endless = !loops->getCond()->isValueDependent() &&
                         loops->getCond()->EvaluateAsRValue(result, context_) &&
                         result.Val.isInt() && result.Val.getInt() != 0;
    if (const VarDecl* tested = loops->getConditionVariable();
        tested != nullptr && holds_guard(tested->getType())) {  // made in each round
      const NodeId round = begun_with(nullptr, tested, of->getEndLoc(), [&] {
        const NodeId nothing = make(Kind::kSequence, at, {});
        const NodeId leave = make(Kind::kBreak, at);
        const NodeId goes_on = make(Kind::kIf, at, {value(loops->getCond()), nothing, leave});
        return make(Kind::kSequence, at, {goes_on, statement(loops->getBody())});
      });
      return make(Kind::kLoop, at, {tm::kNoNode, round});
    }
    NodeId condition = endless ? tm::kNoNode : value(loops->getCond());
    if (loops->getConditionVariable() != nullptr) {
      condition =
          make(Kind::kSequence, at, {declaration(*loops->getConditionVariable()), condition});
    }
    return make(Kind::kLoop, at, {condition, statement(loops->getBody())});
  }
  if (const auto* repeats = llvm::dyn_cast<clang::DoStmt>(of)) {
    clang::Expr::EvalResult result;
    const bool known = !repeats->getCond()->isValueDependent() &&
                       repeats->getCond()->EvaluateAsRValue(result, context_) && result.Val.isInt();
    const NodeId body = statement(repeats->getBody());
    if (known && result.Val.getInt() == 0) {  // do { } while (0), with breaks perhaps
      return make(Kind::kLoop, at,
                  {tm::kNoNode, make(Kind::kSequence, at, {body, make(Kind::kBreak, at)})});
    }
    if (known) return make(Kind::kLoop, at, {tm::kNoNode, body});
    return make(Kind::kDo, at, {body, value(repeats->getCond())});
  }
  if (const auto* counts = llvm::dyn_cast<clang::ForStmt>(of)) {
    return begun_with(counts->getInit(), nullptr, of->getEndLoc(), [&] {
      const NodeId condition =
          counts->getCond() == nullptr ? tm::kNoNode : value(counts->getCond());
      // A `continue` jumps to the increment, which only counts.
      const NodeId body =
          make(Kind::kSequence, at, {statement(counts->getBody()), statement(counts->getInc())});
      return make(Kind::kLoop, at, {condition, body});
    });
  }
  if (const auto* ranges = llvm::dyn_cast<clang::CXXForRangeStmt>(of)) {
    return begun_with(ranges->getInit(), nullptr, of->getEndLoc(),
                      [&] { return range_loop(*ranges); });
  }
  if (const auto* chooses = llvm::dyn_cast<clang::SwitchStmt>(of)) {
    return begun_with(chooses->getInit(), chooses->getConditionVariable(), of->getEndLoc(),
                      [&] { return switch_statement(*chooses); });
  }
  if (const auto* returns = llvm::dyn_cast<clang::ReturnStmt>(of)) {
    const Expr* result = returns->getRetValue();
    if (result == nullptr) return make(Kind::kReturn, at);
    const bool by_reference =
        reading_->function != nullptr && reading_->function->getReturnType()->isReferenceType();
    return make(Kind::kReturn, at, {by_reference ? address(place(result), at) : value(result)});
  }
  if (llvm::isa<clang::BreakStmt>(of)) return make(Kind::kBreak, at);
  if (llvm::isa<clang::ContinueStmt>(of)) return make(Kind::kContinue, at);
  if (const auto* tries = llvm::dyn_cast<clang::CXXTryStmt>(of)) {
    // A handler runs after some part of the block, or not at all.
    std::vector<NodeId> parts = {statement(tries->getTryBlock())};
    for (unsigned i = 0; i < tries->getNumHandlers(); ++i) {
      const NodeId handler = statement(tries->getHandler(i)->getHandlerBlock());
      parts.push_back(make(Kind::kIf, at, {constant(at), handler}));
    }
    return make(Kind::kSequence, at, std::move(parts));
  }
  if (const auto* labelled = llvm::dyn_cast<clang::LabelStmt>(of)) {
    return statement(labelled->getSubStmt());
  }
  if (const auto* expression = llvm::dyn_cast<Expr>(of)) {
    const std::size_t first = ends_.size();
    const NodeId made = discarded(expression);
    return ended(made, first, of->getEndLoc());
  }
  std::vector<NodeId> parts;
  for (const Stmt* child : of->children()) {
    if (child != nullptr) parts.push_back(statement(child));
  }
  return make(Kind::kSequence, at, std::move(parts));
}

}  // namespace tomos::cpp
