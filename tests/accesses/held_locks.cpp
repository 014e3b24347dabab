// An oracle for what tomos infer takes to be held: every lock that a function itself is said to
// hold at an access or a call must be held there on all ways, by an analysis of Clang's own control
// flow graphs (held_ways.cpp), which knows nothing of the core language. To say that a lock is held
// where it is not proves what is false, the worst mistake there is. Names are compared, of the
// field and of the lock, not what leads to them.
//
//   held_locks FILE... -- FLAGS       each file is a program
//   held_locks -p BUILD               BUILD/compile_commands.json
//   held_locks --verbose ...          also the locks that are held, and not said to be
//
// Exit status 1: something is said that is not so.
#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "accesses/held_ways.h"
#include "accesses/sources.h"
#include "clang/read_cpp.h"
#include "core/any_object.h"
#include "core/program.h"
#include "infer/classes.h"
#include "infer/flow.h"
#include "infer/flow_calls.h"

namespace {

using accesses::HeldPlaces;
using accesses::Place;
using tomos::core::Expr;
using tomos::core::ExprId;
using tomos::core::LockId;
using tomos::infer::Flow;
using tomos::infer::MethodId;

struct Use {  // of a field, or of a function
  MethodId method = {};
  Place place;
  unsigned column = 0;
  std::string name;

  friend auto operator<=>(const Use&, const Use&) = default;
};

using Names = std::set<std::string>;

// What is said to be held there. A part that is read more than once, for each way that leads to it,
// has it on all of them.
struct Holds {
  Place written;  // of what is assigned to
  std::map<LockId, Names> locks;
};

struct Claim {  // a lock is held where a field is accessed or a function is called
  Place place;
  Place written;  // of what is assigned to
  std::string name;
  Names locks;  // its names
  std::string function;

  friend auto operator<=>(const Claim&, const Claim&) = default;
};

struct Said {
  std::set<Claim> claims;
  // What is accessed at all, by place and name, and the names of the locks that are said.
  std::map<std::pair<Place, std::string>, Names> uses;
};

// 'x'2 is the second variable x of a function.
std::string without_number(std::string_view name) {
  return std::string(name.substr(0, name.find('\'')));
}

class Claims {
 public:
  Claims(tomos::core::Program& program, Said& to)
      : program_(program),
        files_(accesses::real_paths(program.files)),
        classes_(program, program.locks),
        to_(to) {}

  void note() {
    const Flow flow = flow_of(program_, program_.locks, classes_);
    for (std::size_t i = 0; i < classes_.method_count(); ++i) {
      const ExprId body = classes_[static_cast<MethodId>(i)].method->body;
      if (body != tomos::core::kNoExpr) find(body, variables_[static_cast<MethodId>(i)], {});
    }
    for (const tomos::infer::Access& access : flow.accesses) {
      // What leads to a lock is named again wherever that is taken or given back. A lock itself
      // that is named is taken, given back or passed on.
      const std::string& type = access.field->type.name;
      const bool is_lock = type == "mutex" || type == "recursive_mutex";
      if (is_lock || ways_to_locks_.contains(access.expr)) continue;
      const Expr& at = program_[access.expr];
      const bool writes = at.kind == Expr::Kind::kAssign || at.kind == Expr::Kind::kUpdate;
      const Expr& place = writes ? program_[at.children[0]] : at;
      note(flow, access.method, access.holds, place.position, at.position,
           accesses::plain(access.field->name), brought_[access.expr]);
    }
    for (const tomos::infer::CallSite& site : flow.calls) {
      const Expr& at = program_[site.expr];
      note(flow, site.caller, site.holds, at.position, at.position,
           accesses::plain_function(classes_[site.callee].method->name), brought_[site.expr]);
    }
    tell();
  }

 private:
  using Variables = std::map<std::string, ExprId>;

  struct Around {
    bool leads_to_lock = false;
    Names brought;
  };

  void find(ExprId id, Variables& variables, Around around) {
    const Expr& of = program_[id];
    if (around.leads_to_lock) ways_to_locks_.insert(id);
    // A callee takes a lock and calls what it was given: the lock is around both where it is
    // called.
    if (!around.brought.empty()) brought_[id] = around.brought;
    using enum Expr::Kind;
    const bool is_lock = of.kind == kSync || of.kind == kLock || of.kind == kUnlock ||
                         of.kind == kTryLock || of.kind == kWait;
    if (of.kind == kLet) variables[of.name] = id;
    for (std::size_t i = 0; i < of.children.size(); ++i) {
      if (of.children[i] == tomos::core::kNoExpr) continue;
      Around inside = around;
      inside.leads_to_lock |= is_lock && i == 0;
      if (of.is_callees && i == 1) names_of(of.children[0], variables, inside.brought);
      find(of.children[i], variables, inside);
    }
  }

  // A variable is also called by what it is bound to.
  void names_of(LockId lock, const Variables& variables, Names& to) const {
    const tomos::core::Lock& of = program_.locks[lock];
    to.insert(without_number(accesses::plain(of.name)));
    const auto known = variables.find(of.name);
    if (of.kind != tomos::core::Lock::Kind::kVariable || known == variables.end()) return;
    const Expr& let = program_[known->second];
    if (!let.display.empty()) to.insert(let.display);
    names_of(let.children[0], variables, to);
  }

  void names_of(ExprId bound, const Variables& variables, Names& to) const {
    const Expr& of = program_[bound];
    if (of.kind == Expr::Kind::kSequence && !of.children.empty()) {
      names_of(of.children.back(), variables, to);
    } else if (of.kind == Expr::Kind::kField || of.kind == Expr::Kind::kVariable) {
      to.insert(without_number(accesses::plain(of.name)));
      const auto known = variables.find(of.name);
      if (of.kind == Expr::Kind::kVariable && known != variables.end()) {
        names_of(program_[known->second].children[0], variables, to);
      }
    }
  }

  // A lock that nothing leads to, like one of many, guards nothing: nobody else could name it.
  bool has_no_name(MethodId method, LockId lock) {
    const auto known = variables_[method].find(program_.locks[lock].name);
    if (program_.locks[lock].kind != tomos::core::Lock::Kind::kVariable ||
        known == variables_[method].end()) {
      return false;
    }
    const Expr& let = program_[known->second];
    return let.display.empty() &&
           tomos::infer::value_of(program_, let.children[0]).kind == Expr::Kind::kNull;
  }

  Place place_at(const tomos::core::Position& at) const {
    return {.file = at.line == 0 ? std::string() : files_[at.file], .line = at.line};
  }

  void note(const Flow& flow, MethodId method, tomos::infer::HoldsId holds,
            const tomos::core::Position& at, const tomos::core::Position& written,
            const std::string& name, const Names& brought) {
    if (method == tomos::infer::kMain || at.line == 0) return;
    Holds here = {.written = place_at(written)};
    for (const auto& [lock, hold] : flow[holds]) {
      if (hold.depth == 0 || has_no_name(method, lock)) continue;
      Names names;
      names_of(lock, variables_[method], names);
      if (!std::ranges::any_of(names, [&](const auto& one) { return brought.contains(one); })) {
        here.locks[lock] = std::move(names);
      }
    }
    const Use use = {method, place_at(at), at.column, name};
    const auto [known, is_new] = uses_.try_emplace(use, here);
    if (is_new) return;
    std::erase_if(known->second.locks,
                  [&](const auto& one) { return !here.locks.contains(one.first); });
  }

  void tell() {
    for (const auto& [use, holds] : uses_) {
      Names& said = to_.uses[{use.place, use.name}];
      for (const auto& [lock, names] : holds.locks) {
        said.insert(names.begin(), names.end());
        to_.claims.insert({.place = use.place,
                           .written = holds.written,
                           .name = use.name,
                           .locks = names,
                           .function = classes_[use.method].method->name});
      }
    }
  }

  tomos::core::Program& program_;
  std::vector<std::string> files_;
  tomos::infer::Classes classes_;
  Said& to_;
  std::map<Use, Holds> uses_;
  std::map<MethodId, Variables> variables_;
  std::set<ExprId> ways_to_locks_;
  std::map<ExprId, Names> brought_;
};

// What is accessed without being named there, behind an iterator or a reference, by all that is on
// the line.
bool is_held(const Claim& claim, const HeldPlaces& held) {
  bool is_named = false;
  const auto holds = [&](const accesses::HeldLocks& here) {
    return std::ranges::any_of(claim.locks, [&](const auto& lock) { return here.contains(lock); });
  };
  for (const Place& place : {claim.place, claim.written}) {
    const auto at = held.find(place);
    if (at == held.end()) continue;
    const auto use = at->second.uses.find(claim.name);
    if (use == at->second.uses.end()) continue;
    is_named = true;
    if (holds(use->second)) return true;
  }
  if (is_named) return false;
  const auto at = held.find(claim.place);
  return at != held.end() && holds(at->second.any);
}

}  // namespace

int main(int count, const char** arguments) {
  std::vector<std::string> words(arguments + 1, arguments + count);
  const bool verbose = std::erase(words, "--verbose") > 0;
  const auto sources = accesses::sources_of(words);
  if (!sources) {
    fmt::print(stderr,
               "Usage: held_locks [--verbose] FILE... -- FLAGS\n"
               "       held_locks [--verbose] -p BUILD\n");
    return 2;
  }
  Said said;
  for (const tomos::cpp::Options& options : accesses::programs_of(sources->options)) {
    tomos::Result<tomos::cpp::Sources> read;
    if (!accesses::read_by<tomos::cpp::ReadCpp>(tomos::cpp::kReadCpp, options, read)) return 2;
    Claims(read->program, said).note();
  }
  HeldPlaces held;
  accesses::walk_by_clang(*sources,
                          [&](clang::ASTContext& context) { accesses::note_held(context, held); });
  std::size_t wrong = 0;
  for (const Claim& claim : said.claims) {
    if (is_held(claim, held)) continue;
    ++wrong;
    fmt::print("{}:{}: {}, said to be held: {}, in {}\n", claim.place.file, claim.place.line,
               claim.name, fmt::join(claim.locks, " or "), claim.function);
  }
  std::size_t unsaid = 0;
  for (const auto& [use, locks] : said.uses) {
    const auto at = held.find(use.first);
    if (at == held.end()) continue;
    const auto here = at->second.uses.find(use.second);
    if (here == at->second.uses.end()) continue;
    for (const std::string& lock : here->second.names) {
      if (locks.contains(lock)) continue;
      ++unsaid;
      if (verbose) {
        fmt::print("{}:{}: {}, not said to be held: {}\n", use.first.file, use.first.line,
                   use.second, lock);
      }
    }
  }
  fmt::print("{} locks said to be held, {} are not; {} held are not said\n", said.claims.size(),
             wrong, unsaid);
  return wrong == 0 ? 0 : 1;
}
