#include "names.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/Support/Path.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <string_view>

namespace tomos::instrument {
namespace {

struct Freed {
  void operator()(char* text) const { std::free(text); }
};

// The end of the bracket that opens at `start`.
std::size_t closing(std::string_view text, std::size_t start) {
  int depth = 0;
  for (std::size_t i = start; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i;
  }
  return text.size() - 1;
}

// Parameters of the functions around a local name go, with the qualifiers behind them: what follows
// then is "::" or the end. "(anonymous namespace)" and "operator()" stay, and so does a parameter
// list that is part of a template argument.
std::string without_parameters(std::string_view name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  constexpr std::string_view kAbiTag = "[abi:";
  std::string out;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name.substr(i).starts_with(kAnonymous)) {
      out += kAnonymous;
      i += kAnonymous.size() - 1;
      continue;
    }
    if (name.substr(i).starts_with(kAbiTag)) {
      i = std::min(name.find(']', i), name.size() - 1);
      continue;
    }
    if (name[i] == '(' && depth == 0) {
      if (std::string_view(out).ends_with("operator")) {
        out += "()";
        ++i;
        continue;
      }
      i = closing(name, i);
      for (const std::string_view qualifier : {" const", " volatile", " &", "&"}) {
        if (name.substr(i + 1).starts_with(qualifier)) i += qualifier.size();
      }
      continue;
    }
    // Of an operator like < or -> the brackets are no brackets.
    const bool is_operator = std::string_view(out).ends_with("operator") ||
                             std::string_view(out).ends_with("operator<") ||
                             std::string_view(out).ends_with("operator-") ||
                             std::string_view(out).ends_with("operator<=") ||
                             std::string_view(out).ends_with("operator>");
    if (name[i] == '<' && !is_operator) ++depth;
    if (name[i] == '>' && !is_operator) --depth;
    out += name[i];
  }
  return out;
}

// What a lambda is inside of: blocks do not count.
const llvm::DIScope* holder_of(const llvm::DICompositeType* closure) {
  const llvm::DIScope* scope = closure->getScope();
  while (llvm::isa_and_nonnull<llvm::DILexicalBlockBase>(scope)) scope = scope->getScope();
  return scope;
}

bool is_in_closure(const llvm::DISubprogram* function) {
  for (const llvm::DIScope* scope = function; scope != nullptr; scope = scope->getScope()) {
    if (is_closure(scope)) return true;
  }
  return false;
}

// From the name in the object file, because what debugging information says of scopes depends on
// its level. Empty for the few names that are beyond the demangler.
std::string demangled(const std::string& mangled) {
  llvm::ItaniumPartialDemangler demangler;
  if (demangler.partialDemangle(mangled.c_str())) return {};
  std::size_t size = 0;
  const std::unique_ptr<char, Freed> name(demangler.getFunctionName(nullptr, &size));
  return name ? without_parameters(name.get()) : std::string();
}

}  // namespace

bool is_closure(const llvm::DIScope* scope) {
  return llvm::isa_and_nonnull<llvm::DICompositeType>(scope) && scope->getName().empty() &&
         scope->getTag() == llvm::dwarf::DW_TAG_class_type;
}

std::string Names::of(const llvm::Function& function) {
  std::string mangled = function.getName().str();
  if (!function.getName().starts_with("_Z")) return mangled;
  const llvm::DISubprogram* described = function.getSubprogram();
  // The numbers that the compiler gives to lambdas say nothing to anybody.
  if (described == nullptr || !is_in_closure(described)) {
    std::string name = demangled(mangled);
    if (!name.empty() || described == nullptr) return name.empty() ? mangled : name;
  }
  return qualified(described->getScope(), described->getName().str());
}

std::string Names::of(const llvm::DIType* type) {
  while (const auto* derived = llvm::dyn_cast_or_null<llvm::DIDerivedType>(type)) {
    switch (derived->getTag()) {
      case llvm::dwarf::DW_TAG_typedef: {
        const auto* target = llvm::dyn_cast_or_null<llvm::DICompositeType>(derived->getBaseType());
        if (target != nullptr && target->getName().empty()) {
          return qualified(derived->getScope(), derived->getName().str());
        }
        type = derived->getBaseType();
        continue;
      }
      case llvm::dwarf::DW_TAG_const_type:
      case llvm::dwarf::DW_TAG_volatile_type:
      case llvm::dwarf::DW_TAG_atomic_type:
        type = derived->getBaseType();
        continue;
      case llvm::dwarf::DW_TAG_pointer_type: {
        const std::string pointee = of(derived->getBaseType());
        return pointee.empty() ? pointee : pointee + "*";
      }
      default:
        return {};
    }
  }
  if (type == nullptr || type->getName().empty()) return {};
  return qualified(type->getScope(), type->getName().str());
}

std::string Names::qualified(const llvm::DIScope* scope, std::string name) {
  for (; scope != nullptr; scope = scope->getScope()) {
    std::string outer = scope->getName().str();
    if (is_closure(scope)) {
      outer = closure_name(llvm::cast<llvm::DICompositeType>(scope));
    } else if (llvm::isa<llvm::DINamespace>(scope)) {
      if (outer.empty()) outer = "(anonymous namespace)";
    } else if (llvm::isa<llvm::DICompositeType>(scope)) {
      if (outer.empty()) outer = "{unnamed}";
    } else if (!llvm::isa<llvm::DISubprogram>(scope)) {
      continue;
    }
    name.insert(0, outer.append("::"));
  }
  return name;
}

std::string Names::closure_name(const llvm::DICompositeType* closure) {
  if (!closures_) {
    llvm::DebugInfoFinder finder;
    finder.processModule(module_);
    std::multimap<unsigned, const llvm::DICompositeType*> by_line;
    for (const llvm::DIType* type : finder.types()) {
      if (is_closure(type)) {
        by_line.emplace(type->getLine(), llvm::cast<llvm::DICompositeType>(type));
      }
    }
    closures_.emplace();
    llvm::DenseMap<const llvm::DIScope*, unsigned> seen;
    for (const auto& [line, one] : by_line) (*closures_)[one] = ++seen[holder_of(one)];
  }
  const unsigned number = closures_->lookup(closure);
  return number == 0 ? "{lambda}" : "{lambda#" + std::to_string(number) + "}";
}

std::string path_of(const llvm::DIFile& file) {
  llvm::SmallString<256> path;
  if (!llvm::sys::path::is_absolute(file.getFilename())) path = file.getDirectory();
  llvm::sys::path::append(path, file.getFilename());
  llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/true);
  return path.str().str();
}

bool is_system_file(const llvm::DIFile* file) {
  constexpr std::array<std::string_view, 4> kFolders = {"/usr/include/", "/usr/lib/",
                                                        "/usr/local/include/", "/usr/local/lib/"};
  if (file == nullptr) return true;
  const std::string path = path_of(*file);
  return llvm::any_of(kFolders, [&](std::string_view folder) { return path.starts_with(folder); });
}

}  // namespace tomos::instrument
