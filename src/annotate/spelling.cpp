#include "annotate/spelling.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tomos::annotate {

namespace {

// "(anonymous namespace)::count" is count wherever it can be seen.
std::string without_anonymous(std::string name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  for (std::size_t at = name.find(kAnonymous); at != std::string::npos;
       at = name.find(kAnonymous)) {
    name.erase(at, kAnonymous.size());
  }
  return name;
}

// So are the names of classes that only one file knows: "(db/file.cpp)::Entry" is Entry.
std::string without_files(std::string name) {
  for (std::size_t end = name.find(")::"); end != std::string::npos; end = name.find(")::")) {
    const std::size_t begin = name.rfind('(', end);
    if (begin == std::string::npos) break;
    name.erase(begin, end + 3 - begin);
  }
  return name;
}

std::string plain(std::string_view name) {
  const std::size_t at = name.rfind("::");
  return std::string(at == std::string_view::npos ? name : name.substr(at + 2));
}

bool is_word(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '_' || letter == '$' || letter >= 0x80;
  });
}

// The namespaces and classes that both are in need not be named.
std::string as_seen_within(std::string name, std::string_view within) {
  while (true) {
    const std::size_t end = name.find("::");
    if (end == std::string::npos || !within.starts_with(std::string_view(name).substr(0, end + 2)))
      return name;
    within.remove_prefix(end + 2);
    name.erase(0, end + 2);
  }
}

}  // namespace

Spelling::Spelling(const core::Program& program) : program_(program) {
  for (const core::Class& of : program.classes) {
    classes_.emplace(of.name, &of);
    for (const core::Field& field : of.fields) {
      if (!field.is_static) continue;
      const std::string& owner = of.display.empty() ? of.name : of.display;
      globals_[of.name + "::" + field.name] = {&field, owner + "::" + field.name};
    }
  }
  for (const core::Field& global : program.globals) {
    globals_[global.name] = {&global, global.display.empty() ? global.name : global.display};
  }
}

const core::Class* Spelling::class_of(const core::Type& type) const {
  const auto at = classes_.find(type.name);
  return at == classes_.end() ? nullptr : at->second;
}

const core::Field* Spelling::field(const core::Class* of, std::string_view name) const {
  if (of == nullptr) return nullptr;
  const auto own = std::ranges::find(of->fields, name, &core::Field::name);
  if (own != of->fields.end()) return &*own;
  for (const core::Type& base : of->bases) {
    if (const core::Field* found = field(class_of(base), name)) return found;
  }
  return nullptr;
}

std::expected<Spelling::Step, std::string> Spelling::root(const core::Lock& of,
                                                          const core::Class* owner,
                                                          const core::Method* method,
                                                          std::string_view within) const {
  if (of.kind != core::Lock::Kind::kVariable) return std::unexpected("its lock has no name there");
  if (of.name == "this") return Step{.text = "this", .leads_to = owner, .is_pointer = true};
  if (const auto global = globals_.find(of.name); global != globals_.end()) {
    const std::string name = without_anonymous(global->second.shown);
    const bool is_local = name.find_first_of("()@ ") != std::string::npos;
    if (is_local) return std::unexpected(fmt::format("{} can be named in its function only", name));
    const core::Field& field = *global->second.field;
    return Step{.text = as_seen_within(name, without_anonymous(std::string(within))),
                .leads_to = class_of(field.type),
                .is_pointer = field.is_pointer};
  }
  if (of.name.starts_with('&')) {
    const std::size_t end = of.name.rfind("::");
    const core::Class* any = class_of({.name = of.name.substr(1, end - 1)});
    if (any == nullptr) return std::unexpected("its lock has no name there");
    const std::string name = without_files(any->name);
    if (name.find_first_of("(<@ ") != std::string::npos) {
      return std::unexpected(fmt::format("{} has no name there", name));
    }
    return Step{
        .text = fmt::format("&{}::{}", as_seen_within(name, without_anonymous(std::string(within))),
                            of.name.substr(end + 2)),
        .leads_to = nullptr,
        .is_pointer = false};
  }
  if (method == nullptr) return std::unexpected("its lock has no name there");
  const auto parameter = std::ranges::find(method->parameters, of.name, &core::Parameter::name);
  if (parameter == method->parameters.end() || parameter->display.empty()) {
    return std::unexpected("the parameter that leads to its lock has no name where it is declared");
  }
  return Step{.text = parameter->display,
              .leads_to = class_of(parameter->type),
              .is_pointer = parameter->is_pointer};
}

std::expected<std::string, std::string> Spelling::of(core::LockId lock, const core::Class* owner,
                                                     const core::Method* method,
                                                     std::string_view within) const {
  std::vector<std::string> names;
  while (program_.locks[lock].kind == core::Lock::Kind::kField) {
    names.push_back(program_.locks[lock].name);
    lock = program_.locks[lock].base;
  }
  std::ranges::reverse(names);
  auto begin = root(program_.locks[lock], owner, method, within);
  if (!begin) return std::unexpected(begin.error());
  Step step = *begin;
  // A pointer to a lock is that lock.
  bool is_implicit = step.text == "this" && !names.empty();
  std::string text = is_implicit ? "" : step.text;
  for (const std::string& name : names) {
    const core::Field* found = field(step.leads_to, name);
    if (found == nullptr || !is_word(plain(name))) {
      return std::unexpected(fmt::format("{} has no name there", name));
    }
    if (!is_implicit) text += step.is_pointer ? "->" : ".";
    text += plain(name);
    is_implicit = false;
    step = {.text = {}, .leads_to = class_of(found->type), .is_pointer = found->is_pointer};
  }
  return text;
}

}  // namespace tomos::annotate
