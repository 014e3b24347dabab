// The lock that the objects a field leads to are used under: of those that are held where the field
// is read or written, the one that is held most often. If there is none, the field's own object may
// be under a lock of its owner's, which then is that of its parts, too.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/program.h"
#include "infer/classes.h"
#include "infer/flow.h"
#include "infer/ghost_types.h"
#include "infer/requirements.h"

namespace tomos::infer {

class GhostFields {
 public:
  GhostFields(Locks& locks, Classes& classes, const Flow& flow, Requirements& requirements,
              const Families& families, LockId ghost);

  // For every field and global of these families. Those for which there is none are the result;
  // those that others need in order to have one are added, unless they were given up.
  std::set<std::string> choose(GhostFamilies& families, const std::set<std::string>& given_up,
                               const std::set<std::string>& exempt,
                               std::map<const core::Field*, LockId>& to);

 private:
  struct Held {
    LockId lock = {};  // in the words of the field's class
    std::size_t times = 0;
  };

  std::optional<LockId> lock_for(const core::Field& field, const core::Class* owner, GhostUse use);
  std::vector<LockId> candidates(const core::Field& field, const core::Class* owner);
  std::optional<LockId> from_object(LockId lock, const Access& access) const;
  bool is_held(LockId lock, const core::Class* owner, const Access& access);

  Locks& locks_;
  Classes& classes_;
  const Flow& flow_;
  Requirements& requirements_;
  const Families& families_;
  LockId ghost_;
  std::map<const core::Field*, std::vector<const Access*>> accesses_;  // that others can see
};

}  // namespace tomos::infer
