// The whole: passes, names, variables.
#include "clang/drivers.h"

#include <clang/Basic/SourceManager.h>
#include <fmt/format.h>

#include <algorithm>

#include "clang/commands.h"
#include "clang/driver_types.h"
#include "clang/unit.h"

namespace tomos::cpp {

using clang::Expr;
using clang::SourceLocation;
using clang::VarDecl;

namespace {

constexpr int kMostPasses = 20;
constexpr std::size_t kMostLines = 20'000;
constexpr std::int64_t kWidestRange = 16;  // of a number that is kept

// std::thread(function, arguments...), or emplace_back(function, arguments...) of a vector of them.
bool starts_thread(const clang::Stmt* of) {
  if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(of)) {
    return is_thread_type(made->getType());
  }
  const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(of);
  if (call == nullptr || call->getImplicitObjectArgument() == nullptr) return false;
  const clang::QualType inside = contained_type(call->getImplicitObjectArgument()->getType());
  return !inside.isNull() && is_thread_type(inside);
}

}  // namespace

DriverUnit::DriverUnit(clang::ASTContext& context, std::string directory, bool counts,
                       Driver& driver)
    : context_(context), files_(std::move(directory)), keeps_counts_(counts), driver_(driver) {}

void DriverUnit::read() {
  for (int i = 0; i < kMostPasses; ++i) {
    const Facts before = facts_;
    pass();
    if (facts_ == before) return;
  }
  throw Error{.where = "", .what = "what its variables hold could not be found out", .remedy = ""};
}

void DriverUnit::pass() {
  driver_ = Driver{.files = std::move(driver_.files)};
  shared_.clear();
  order_.clear();
  pointers_.clear();
  threads_.clear();
  counts_.clear();
  sizes_.clear();
  completions_.clear();
  promises_.clear();
  initialized_.clear();
  started_.clear();
  recursive_.clear();
  paths_.clear();
  prologue_ = true;
  budget_ = kMostLines;
  const clang::FunctionDecl* entry = nullptr;
  for (const clang::Decl* decl : context_.getTranslationUnitDecl()->decls()) {
    const auto* function = llvm::dyn_cast<clang::FunctionDecl>(decl);
    if (function != nullptr && function->isMain() && function->getDefinition() != nullptr) {
      entry = function->getDefinition();
    }
  }
  if (entry == nullptr) {
    throw Error{.where = "",
                .what = "there is no main here",
                .remedy = "Name the file of a test driver that starts its threads itself."};
  }
  std::vector<DriverThread> threads;
  const auto write = [&](const Started& thread) {
    std::vector<DriverLine> lines;
    out_ = &lines;
    read_thread(thread);
    threads.push_back(
        {.name = thread.name, .lines = std::move(lines), .position = position(thread.at)});
  };
  write({.name = "main",
         .callable = {.kind = Value::Kind::kCallable, .function = entry},
         .at = entry->getLocation()});
  if (started_.empty()) {
    throw Error{.where = text_of(entry->getLocation()),
                .what = "main starts no thread",
                .remedy =
                    "Name a driver that starts its threads itself, with std::thread or "
                    "pthread_create."};
  }
  for (std::size_t i = 0; i < started_.size(); ++i) write(Started(started_[i]));
  facts_.names.clear();
  std::vector<DriverVariable> variables;
  for (const std::string& path : order_) {
    const DriverVariable& variable = shared_.at(path);
    facts_.names.insert(variable.name);
    driver_.names[variable.name] = path;
    variables.push_back(variable);
  }
  write_driver(driver_, variables, std::move(threads));
}

void DriverUnit::read_thread(const Started& thread) {
  thread_ = thread.name == "main" ? "" : thread.name;
  live_names_.clear();
  lasting_names_.clear();
  holding_ = {};
  ending_ = 0;
  in_atomic_ = not_atomic_ = false;
  loops_ = 0;
  labels_ = 0;
  frames_.clear();
  invoke(thread.callable, thread.arguments, thread.at, true);
}

void DriverUnit::refuse(SourceLocation at, const std::string& what, const std::string& remedy) {
  throw Error{.where = text_of(at), .what = what, .remedy = remedy};
}

DriverPosition DriverUnit::position(SourceLocation location) {
  if (location.isInvalid()) return {};
  const clang::SourceManager& manager = context_.getSourceManager();
  const auto [file, offset] = manager.getDecomposedLoc(manager.getFileLoc(location));
  const auto number = files_.of(file, manager, driver_.files);
  if (!number) return {};
  return {.file = *number,
          .line = manager.getLineNumber(file, offset),
          .column = manager.getColumnNumber(file, offset)};
}

std::string DriverUnit::text_of(SourceLocation location) {
  const DriverPosition at = position(location);
  if (at.line == 0) return "";
  return fmt::format("{}:{}:{}", shown(driver_.files[at.file]), at.line, at.column);
}

void DriverUnit::abstracted(const std::string& kind, const std::string& what, SourceLocation at) {
  auto& list = driver_.abstracted[kind];
  const std::string where = text_of(at);
  const std::string entry = what.empty()    ? where
                            : where.empty() ? what
                                            : fmt::format("{} ({})", what, where);
  if (std::ranges::find(list, entry) == list.end()) list.push_back(entry);
}

std::string DriverUnit::unique(const std::string& path) {
  std::string result = path;
  for (int i = 2; !paths_.insert(result).second; ++i) result = fmt::format("{}'{}", path, i);
  return result;
}

// ---- what is written ----

void DriverUnit::emit(const std::string& text, SourceLocation at, DriverStep step) {
  if (budget_-- == 0) {
    refuse(at, "the driver is too large: there are too many steps when all calls are followed",
           "Leave out what has nothing to do with the threads, or let them do less.");
  }
  prologue_ = false;
  out_->push_back({.text = text, .position = position(at), .step = step});
}

void DriverUnit::open(const std::string& text, SourceLocation at) { emit(text + " {", at); }
void DriverUnit::close() { out_->push_back({.text = "}"}); }

std::string DriverUnit::local(const std::string& wanted, const std::string& type) {
  const std::string base = identifier(wanted);
  std::string name = base;
  for (int i = 2; facts_.names.contains(name) || lasting_names_.contains(name) ||
                  !live_names_.insert(name).second;
       ++i) {
    name = fmt::format("{}_{}", base, i);
  }
  frames_.back().declared[name] = type;
  return name;
}

// One that is free again when the statement is over.
std::string DriverUnit::temporary(const std::string& type) {
  Frame& frame = frames_.back();
  auto& free = frame.free[type];
  std::string name;
  if (free.empty()) {
    name = local(type == "bool" ? "t" : type == "int[0..0]" ? "seen" : "n", type);
  } else {
    name = std::move(free.back());
    free.pop_back();
  }
  frame.busy.emplace_back(type, name);
  return name;
}

// ---- shared variables ----

bool DriverUnit::is_foreign(const clang::Decl& decl) const {
  const auto* function = llvm::dyn_cast<clang::FunctionDecl>(&decl);
  if (function != nullptr && function->getBuiltinID() != 0) return true;
  if (decl.getLocation().isInvalid()) return true;
  const clang::SourceManager& manager = context_.getSourceManager();
  return manager.isInSystemHeader(manager.getExpansionLoc(decl.getLocation()));
}

DriverUnit::Leaf DriverUnit::leaf_of(clang::QualType type) const {
  if (type->isReferenceType()) return Leaf::kPointer;
  if (is_lock_type(type)) return Leaf::kLock;
  if (!guard_type(type).empty()) return Leaf::kGuard;
  if (is_condition_type(type)) return Leaf::kCondition;
  if (meeting_of(type) != Meeting::kNone) return Leaf::kMeeting;
  if (is_thread_type(type)) return Leaf::kThread;
  const clang::QualType inside = contained_type(type);
  if (!inside.isNull() && (is_thread_type(inside) || is_function_object(inside))) {
    return array_size(type, context_) ? Leaf::kArray : Leaf::kList;
  }
  const clang::QualType plain = without_atomic(type);
  if (plain->isBooleanType() || is_flag_type(type)) return Leaf::kTruth;
  if (plain->isIntegralOrEnumerationType()) return Leaf::kNumber;
  if (plain->isPointerType() || is_smart_pointer(plain) || is_function_object(plain)) {
    return Leaf::kPointer;
  }
  if (array_size(type, context_)) return Leaf::kArray;
  const clang::RecordDecl* record = plain->getAsRecordDecl();
  if (record != nullptr && !is_foreign(*record) && !record->isUnion()) return Leaf::kRecord;
  return Leaf::kData;
}

DriverUnit::Leaf DriverUnit::leaf_of(const Spot& spot) const {
  return spot.blurred ? Leaf::kData : leaf_of(spot.type);
}

std::string DriverUnit::type_of(const std::string& key, Leaf leaf) const {
  switch (leaf) {
    case Leaf::kLock:
      return "lock";
    case Leaf::kCondition:
      return "cond";
    case Leaf::kTruth:
      return "bool";
    case Leaf::kNumber: {
      if (!is_kept(key)) break;
      const auto range = facts_.ranges.find(key);
      if (range == facts_.ranges.end()) return "int[0..0]";
      return fmt::format("int[{}..{}]", range->second.first, range->second.second);
    }
    case Leaf::kMeeting:
    case Leaf::kThread:
    case Leaf::kList:
    case Leaf::kPointer:
    case Leaf::kGuard:
    case Leaf::kRecord:
    case Leaf::kArray:
    case Leaf::kData:
      break;
  }
  return "int[0..0]";
}

// What may be held by the number: the language has none below 0.
void DriverUnit::assigned(const std::string& key, const Value& value) {
  if (!is_kept(key)) return;
  if (value.small) {
    assigned(key, Value::of(0));
    return assigned(key, Value::of(kWidestRange - 1));
  }
  if (!value.is_number() || value.number < 0) {
    facts_.unkept.insert(key);
    return;
  }
  const auto [at, is_new] = facts_.ranges.emplace(key, std::pair(value.number, value.number));
  at->second.first = std::min(at->second.first, value.number);
  at->second.second = std::max(at->second.second, value.number);
  if (at->second.second - at->second.first >= kWidestRange) facts_.unkept.insert(key);
}

// A number that is counted up or down. It is kept as if it stayed small; the search says if it does
// not, and then all is done again without.
Value DriverUnit::more(const Meaning& of, const Value& old, std::int64_t by) {
  if (old.is_number()) return Value::of(old.number + by);
  const bool is_variable = of.kind == Meaning::Kind::kLocal || of.kind == Meaning::Kind::kSpot;
  if (!keeps_counts_ || !is_variable || leaf_of(of.spot) != Leaf::kNumber ||
      !is_kept(of.spot.path) || old.kind != Value::Kind::kFormula || by >= kWidestRange ||
      by <= -kWidestRange) {
    return {};
  }
  driver_.counts = true;
  Value result =
      Value::of(fmt::format("({} {} {})", old.formula, by < 0 ? "-" : "+", by < 0 ? -by : by));
  result.small = true;
  return result;
}

// Its name in the Boolean program.
std::string DriverUnit::declare(const Spot& spot, SourceLocation at) {
  const auto known = shared_.find(spot.path);
  if (known != shared_.end()) return known->second.name;
  const Leaf leaf = leaf_of(spot);
  std::string name = declare_as(spot.path, type_of(spot.path, leaf));
  DriverVariable& variable = shared_.at(spot.path);
  if (leaf == Leaf::kNumber && is_kept(spot.path)) {
    assigned(spot.path, Value::of(0));  // unless somebody else has said
    variable.initial = "0";
  }
  if (variable.type == "int[0..0]" && (leaf != Leaf::kNumber || !is_kept(spot.path))) {
    abstracted("only the accesses are kept, not the values, of", spot.path, at);
  }
  if (is_atomic_type(spot.type)) driver_.atomics.insert(spot.path);
  return name;
}

std::string DriverUnit::declare_as(const std::string& path, const std::string& type) {
  std::string name = identifier(path);
  const auto is_taken = [&](const std::string& wanted) {
    return std::ranges::any_of(shared_, [&](const auto& one) { return one.second.name == wanted; });
  };
  for (int i = 2; is_taken(name); ++i) name = fmt::format("{}_{}", identifier(path), i);
  shared_.emplace(path, DriverVariable{.name = name, .type = type, .initial = ""});
  order_.push_back(path);
  return name;
}

Meaning* DriverUnit::find(const clang::ValueDecl& name) {
  auto& meanings = frames_.back().meanings;
  const auto known = meanings.find(&name);
  return known == meanings.end() ? nullptr : &known->second;
}

// Made when main begins: what its constructor does then is what it is like in the beginning.
Spot DriverUnit::global(const VarDecl& variable, SourceLocation at) {
  const VarDecl& of = *variable.getCanonicalDecl();
  std::string path = of.getQualifiedNameAsString();
  if (of.isStaticLocal()) {
    const auto* function = llvm::dyn_cast<clang::FunctionDecl>(of.getDeclContext());
    if (function != nullptr) path = function->getQualifiedNameAsString() + "::" + path;
  }
  if (variable.getTLSKind() != VarDecl::TLS_None) {
    path = fmt::format("{} of {}", path, thread_.empty() ? "main" : thread_);
  }
  Spot spot{.path = path, .type = of.getType().getNonReferenceType()};
  if (!paths_.insert("global " + path).second) return spot;
  const VarDecl* definition = variable.getDefinition();
  if (definition == nullptr) {
    refuse(at, fmt::format("{} is defined elsewhere", path),
           "Put the driver and what it tests into one source file.");
  }
  if (keeps_lock(spot.type)) {
    refuse(of.getLocation(), fmt::format("when the lock in {} is given back is not known", path),
           "Keep the guard in a variable of the function that needs it.");
  }
  const Expr* with = definition->getInit();
  if (of.isStaticLocal() && with != nullptr && !with->isConstantInitializer(context_, false)) {
    refuse(of.getLocation(), fmt::format("what makes {} is more than constants", path),
           "Let main make it, before it starts threads.");
  }
  // As if it had stood there from the beginning; nobody has seen it yet.
  std::vector<DriverLine> lines;
  std::vector<DriverLine>* const out = std::exchange(out_, &lines);
  const bool was = std::exchange(prologue_, true);
  const bool atomic = std::exchange(in_atomic_, true);
  const bool needs_frame = frames_.empty();
  if (needs_frame) frames_.emplace_back();
  if (of.getType()->isReferenceType() && with != nullptr) {
    pointers_[path] = Value::leading_to(this->spot(with));
  } else {
    initialize_all(spot, at);
    if (with != nullptr) initialize(spot, with, of.getLocation());
  }
  if (needs_frame) frames_.pop_back();
  in_atomic_ = atomic;
  out_ = out;
  prologue_ = was;
  if (!lines.empty()) {
    refuse(of.getLocation(), fmt::format("what makes {} is more than constants", path),
           "Let main make it, before it starts threads.");
  }
  return spot;
}

// ---- how variables are used ----

void DriverUnit::look_at(const clang::Stmt* of) {
  if (of == nullptr || !looked_at_.insert(of).second) return;
  std::set<const clang::Stmt*> harmless;
  const auto variable_of = [](const Expr* expr) -> const clang::DeclRefExpr* {
    return llvm::dyn_cast<clang::DeclRefExpr>(expr->IgnoreParens());
  };
  const auto assigns = [&](const Expr* to) {
    const auto* name = variable_of(to);
    if (name == nullptr) return;
    harmless.insert(name);
    if (const auto* variable = llvm::dyn_cast<VarDecl>(name->getDecl())) {
      ++uses_.assigned[variable];
    }
  };
  const auto walk = [&](const auto& self, const clang::Stmt* one) -> void {
    if (one == nullptr) return;
    if (const auto* expr = llvm::dyn_cast<Expr>(one)) refuse_hidden_guard(*expr);
    if (const auto* lambda = llvm::dyn_cast<clang::LambdaExpr>(one)) {
      for (const clang::LambdaCapture& capture : lambda->captures()) {
        if (!capture.capturesVariable()) continue;
        const auto* variable = llvm::dyn_cast<VarDecl>(capture.getCapturedVar());
        if (capture.getCaptureKind() == clang::LCK_ByRef) uses_.captured.insert(variable);
      }
      for (const Expr* init : lambda->capture_inits()) {
        if (init != nullptr && variable_of(init) != nullptr) harmless.insert(variable_of(init));
        self(self, init);
      }
      looked_at_.insert(lambda->getBody());
      self(self, lambda->getBody());
      return;
    }
    if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(one)) {
      const auto* name = variable_of(cast->getSubExpr());
      const bool reads =
          cast->getCastKind() == clang::CK_LValueToRValue ||
          (cast->getCastKind() == clang::CK_NoOp && cast->getType().isConstQualified());
      if (reads && name != nullptr) harmless.insert(name);
    } else if (starts_thread(one)) {  // a thread gets copies
      for (const clang::Stmt* child : one->children()) {
        const auto* given = llvm::dyn_cast_or_null<Expr>(child);
        if (given != nullptr && variable_of(given) != nullptr) harmless.insert(variable_of(given));
      }
    } else if (const auto* pair = llvm::dyn_cast<clang::BinaryOperator>(one)) {
      if (pair->isAssignmentOp()) assigns(pair->getLHS());
    } else if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(one)) {
      if (unary->isIncrementDecrementOp()) assigns(unary->getSubExpr());
    } else if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(one)) {
      const auto* variable = llvm::dyn_cast<VarDecl>(name->getDecl());
      if (variable != nullptr && !harmless.contains(name)) uses_.escaped.insert(variable);
    }
    for (const clang::Stmt* child : one->children()) self(self, child);
  };
  walk(walk, of);
}

}  // namespace tomos::cpp
