// The answers, and the memory of them. What a module's file says is in debug_info.h.
#include "symbols/symbols.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "symbols/debug_info.h"
#include "symbols/globals.h"
#include "symbols/heap_types.h"
#include "symbols/layout.h"
#include "symbols/text.h"

namespace tomos {
namespace {

struct Module {
  std::string path;
  std::uint64_t bias = 0;
  std::uint64_t end = 0;
  bool opened = false;
  bool asked = false;                        // about an address in it; types are looked for in all
  std::string problem;                       // the file could not be opened: why
  std::unique_ptr<symbols::DebugInfo> info;  // null: not opened, or it could not be
  std::optional<symbols::Globals> globals;
  std::optional<symbols::HeapTypes> heap_types;
};

// Whether malloc gives so many usable bytes for an object of this size, or for an array of them if
// that can be told. It counts in sixteens, with eight of its own.
bool fits(std::uint64_t size, std::uint64_t usable) {
  constexpr std::uint64_t kStep = 16;
  constexpr std::uint64_t kLeast = 24;
  constexpr std::uint64_t kTelling = 4 * kStep;
  if (size == 0 || size > usable) return false;
  return usable - size < kStep || usable <= kLeast || (size >= kTelling && usable % size < kStep);
}

}  // namespace

struct Symbols::Impl {
  std::map<std::uint64_t, std::unique_ptr<Module>> modules;  // by first address
  std::vector<Module*> order;                                // as they were added
  std::vector<std::unique_ptr<Module>> replaced;             // types found in them stay known
  symbols::Layout layout;
  std::size_t in_layout = 0;  // how many of `order` are
  std::unordered_map<std::uint64_t, std::vector<Frame>> frames;
  std::unordered_map<std::uint64_t, std::string> globals;
  std::unordered_map<std::uint64_t, std::string> allocated_types;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> received_types;  // by pc and size
  std::unordered_map<std::string, std::unordered_map<std::uint64_t, std::string>> fields;

  Module* module_at(std::uint64_t address) {
    auto after = modules.upper_bound(address);
    if (after == modules.begin()) return nullptr;
    Module* module = std::prev(after)->second.get();
    if (address >= module->end) return nullptr;
    module->asked = true;
    return module;
  }

  symbols::DebugInfo* open(Module& module) {
    if (!module.opened) {
      module.opened = true;
      Result<std::unique_ptr<symbols::DebugFile>> file = symbols::DebugFile::open(module.path);
      if (file) {
        module.info = std::make_unique<symbols::DebugInfo>(std::move(*file));
      } else {
        module.problem = file.error().what;
      }
    }
    return module.info.get();
  }

  // A type may be described in another module than the one that uses it; the system's are described
  // wherever they are used, and its debugging information is large.
  symbols::Layout& all_types() {
    for (; in_layout < order.size(); ++in_layout) {
      if (symbols::is_system_file(order[in_layout]->path)) continue;
      if (symbols::DebugInfo* info = open(*order[in_layout])) layout.add(info);
    }
    return layout;
  }

  std::vector<Frame> make_frames(std::uint64_t pc) {
    Module* module = module_at(pc - 1);
    if (module == nullptr) return {};
    symbols::DebugInfo* info = open(*module);
    const std::uint64_t address = pc - 1 - module->bias;
    if (info != nullptr) {
      std::vector<Frame> described = info->frames(address);
      if (!described.empty()) return described;
      const symbols::DebugFile::Symbol* symbol = info->file().symbol(address, true);
      if (symbol != nullptr) return {{symbols::symbol_name(symbol->name), "", 0, 0, true}};
    }
    return {{module->path, "", 0, 0, true}};
  }

  std::string make_global(std::uint64_t address) {
    Module* module = module_at(address);
    if (module == nullptr) return {};
    symbols::DebugInfo* info = open(*module);
    if (info == nullptr) return {};
    if (!module->globals) module->globals.emplace(*info);
    return module->globals->name(address - module->bias, all_types());
  }

  // Those of a module; null if it cannot be read.
  symbols::HeapTypes* heap_types(Module* module) {
    symbols::DebugInfo* info = module == nullptr ? nullptr : open(*module);
    if (info == nullptr) return nullptr;
    if (!module->heap_types) module->heap_types.emplace(*info);
    return &*module->heap_types;
  }

  std::string make_allocated_type(std::uint64_t pc, const std::vector<Frame>& at) {
    Module* module = module_at(pc - 1);
    symbols::HeapTypes* types = heap_types(module);
    return types == nullptr ? "" : types->allocated_at(pc - 1 - module->bias, at);
  }

  std::string make_received_type(std::uint64_t pc, const std::vector<Frame>& at,
                                 std::uint64_t size) {
    const symbols::HeapTypes* types = heap_types(module_at(pc - 1));
    std::string type = types == nullptr ? "" : types->received_at(at);
    return !type.empty() && fits(all_types().size(type), size) ? type : "";
  }
};

Symbols::Symbols() : impl_(std::make_unique<Impl>()) {}
Symbols::~Symbols() = default;

void Symbols::add_module(std::string path, std::uint64_t bias, std::uint64_t first,
                         std::uint64_t end) {
  std::unique_ptr<Module>& module = impl_->modules[first];
  if (module && module->path == path) return;
  // A library unloaded and another one loaded in its place: what is asked from now on is about the
  // new one.
  if (module) impl_->replaced.push_back(std::move(module));
  module = std::make_unique<Module>();
  module->path = std::move(path);
  module->bias = bias;
  module->end = end;
  impl_->order.push_back(module.get());
}

const std::vector<Frame>& Symbols::frames(std::uint64_t pc) {
  const auto known = impl_->frames.find(pc);
  if (known != impl_->frames.end()) return known->second;
  return impl_->frames.emplace(pc, impl_->make_frames(pc)).first->second;
}

const std::string& Symbols::global(std::uint64_t address) {
  const auto known = impl_->globals.find(address);
  if (known != impl_->globals.end()) return known->second;
  return impl_->globals.emplace(address, impl_->make_global(address)).first->second;
}

const std::string& Symbols::allocated_type(std::uint64_t pc) {
  const auto known = impl_->allocated_types.find(pc);
  if (known != impl_->allocated_types.end()) return known->second;
  std::string type = impl_->make_allocated_type(pc, frames(pc));
  return impl_->allocated_types.emplace(pc, std::move(type)).first->second;
}

const std::string& Symbols::received_type(std::uint64_t pc, std::uint64_t size) {
  const auto known = impl_->received_types.find({pc, size});
  if (known != impl_->received_types.end()) return known->second;
  std::string type = impl_->make_received_type(pc, frames(pc), size);
  return impl_->received_types.emplace(std::pair(pc, size), std::move(type)).first->second;
}

const std::string& Symbols::field(const std::string& type, std::uint64_t offset) {
  auto& known = impl_->fields[type];
  const auto entry = known.find(offset);
  if (entry != known.end()) return entry->second;
  return known.emplace(offset, impl_->all_types().field(type, offset)).first->second;
}

std::vector<std::string> Symbols::problems() const {
  std::vector<std::string> problems;
  for (const Module* module : impl_->order) {
    if (!module->asked || !module->opened || symbols::is_system_file(module->path)) continue;
    if (!module->problem.empty()) {
      problems.push_back(
          fmt::format("{}: {}; its addresses have no names", module->path, module->problem));
    } else if (!module->info->exists()) {
      problems.push_back(
          fmt::format("{} has no debugging information: compile it with -g for lines and variables",
                      module->path));
    }
  }
  return problems;
}

}  // namespace tomos
