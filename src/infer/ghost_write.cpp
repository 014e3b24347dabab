// A program with the ghost parameters that were found for it.
#include "infer/ghost_types.h"

namespace tomos::infer {

using core::Class;
using core::Field;
using core::Method;

FreeNames::FreeNames(const core::Program& program) {
  const auto add_method = [&](const Method& of) {
    for (const core::Parameter& parameter : of.parameters) taken_.insert(parameter.name);
  };
  for (const Class& of : program.classes) {
    for (const Method& method : of.methods) add_method(method);
  }
  for (const Method& function : program.functions) add_method(function);
  for (const Field& global : program.globals) taken_.insert(global.name);
  for (const core::Expr& expr : program.exprs) {
    using enum core::Expr::Kind;
    if (expr.kind == kLet || expr.kind == kVariable) taken_.insert(expr.name);
  }
}

std::string FreeNames::make(const std::string& like) {
  std::string name = like;
  for (int i = 1; !taken_.insert(name).second; ++i) name = like + std::to_string(i);
  return name;
}

namespace {

class GhostWriter {
 public:
  GhostWriter(core::Program& program, const GhostTypes& types, const Families& families)
      : program_(program), types_(types), families_(families) {}

  void run() {
    std::size_t method = 0;
    for (Class& of : program_.classes) {
      for (Method& one : of.methods) write(one, types_.methods[method++]);
      const auto use = types_.families.find(families_.of(of.name));
      if (use != types_.families.end()) write(of, use->second);
    }
    for (Method& function : program_.functions) write(function, types_.methods[method++]);
    for (const auto& [expr, locks] : types_.exprs) {
      core::Expr& of = program_.exprs[static_cast<std::size_t>(expr)];
      (of.kind == core::Expr::Kind::kCall ? of.locks : of.type.locks) = locks;
    }
  }

 private:
  void write(Class& of, GhostUse use) {
    const bool is_exempt = types_.exempt.contains(of.name);
    if (!is_exempt) of.ghosts = {program_.locks[types_.ghost].name};
    for (core::Type& base : of.bases) {
      if (types_.families.contains(families_.of(base.name))) {
        base.locks = {is_exempt ? Locks::kAlways : types_.ghost};
      }
    }
    if (is_exempt) return;
    if (use == GhostUse::kGuards) {
      // Its own locks have nothing to do with that (section 6.2).
      if (of.bases.empty()) of.bases.push_back({.name = "Object", .locks = {Locks::kNone}});
      return;
    }
    for (Method& method : of.methods) {
      if (method.atomicity) method.atomicity = for_protected(*method.atomicity);
    }
    for (Field& field : of.fields) {
      const bool is_lock = field.type.name == "mutex" || field.type.name == "recursive_mutex";
      if (is_lock && !field.is_static) field.type.locks = {types_.ghost};
    }
  }

  // Whoever says that it is atomic speaks of callers that hold what they must. For those that hold
  // a lock that protects its own, what is atomic is a mover, or there would be no use in it.
  core::TermId for_protected(core::TermId declared) {
    using enum core::Predicate::Kind;
    const bool is_atomic =
        !program_[declared].predicate && program_[declared].basic == core::Basic::kAtomic;
    const core::TermId error = program_.add(core::Term{.basic = core::Basic::kError});
    const core::TermId mover = program_.add(core::Term{.basic = core::Basic::kMover});
    const core::TermId held =
        program_.add(core::Term{.predicate = core::Predicate{.kind = kHeld, .lock = types_.ghost},
                                .then = is_atomic ? mover : declared,
                                .otherwise = error});
    return program_.add(
        core::Term{.predicate = core::Predicate{.kind = kIsNone, .lock = types_.ghost},
                   .then = declared,
                   .otherwise = held});
  }

  void write(Method& of, const GhostTypes::Signature& signature) {
    const auto lock_of = [&](std::size_t place, core::Type& type) {
      const auto& at = signature.places[place];
      if (types_.exempt.contains(type.name)) return;
      if (at.ghost) type.locks = {program_.locks.ghost(types_.method_ghosts[*at.ghost])};
      if (at.lock) type.locks = {*at.lock};
    };
    for (std::size_t i = 0; i < of.parameters.size(); ++i) lock_of(i, of.parameters[i].type);
    lock_of(of.parameters.size(), of.result);
    for (std::size_t i = 0; i < signature.ghosts; ++i) {
      of.ghosts.push_back(types_.method_ghosts[i]);
    }
  }

  core::Program& program_;
  const GhostTypes& types_;
  const Families& families_;
};

}  // namespace

void add_ghosts(core::Program& copy, const core::Program& program, const GhostTypes& types,
                const Families& families) {
  const auto write = [&](std::vector<Field>& to, const std::vector<Field>& from) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      const auto at = types.fields.find(&from[i]);
      const bool has_lock = at != types.fields.end() && !types.exempt.contains(to[i].type.name);
      if (has_lock) to[i].type.locks = {at->second};
    }
  };
  for (std::size_t i = 0; i < program.classes.size(); ++i) {
    write(copy.classes[i].fields, program.classes[i].fields);
  }
  write(copy.globals, program.globals);
  GhostWriter(copy, types, families).run();
}

}  // namespace tomos::infer
