// A lock expression of the core as the source spells it: this.db.mutex is db->mutex.
#pragma once

#include <expected>
#include <map>
#include <string>
#include <string_view>

#include "core/program.h"

namespace tomos::annotate {

class Spelling {
 public:
  explicit Spelling(const core::Program& program);

  // In a declaration of the class or of the method; either may be missing. `within` is its full
  // name. Unexpected: why it has no spelling there.
  std::expected<std::string, std::string> of(core::LockId lock, const core::Class* owner,
                                             const core::Method* method,
                                             std::string_view within) const;

 private:
  struct Step {
    std::string text;
    const core::Class* leads_to = nullptr;
    bool is_pointer = false;
  };
  std::expected<Step, std::string> root(const core::Lock& of, const core::Class* owner,
                                        const core::Method* method, std::string_view within) const;
  const core::Field* field(const core::Class* of, std::string_view name) const;
  const core::Class* class_of(const core::Type& type) const;

  const core::Program& program_;
  std::map<std::string_view, const core::Class*> classes_;
  struct Global {
    const core::Field* field = nullptr;
    std::string shown;
  };
  std::map<std::string, Global> globals_;
};

}  // namespace tomos::annotate
