// Ghost parameters for classes that declare none: which lock each occurrence of such a class as a
// type gets, so that the program is well typed.
//
// The idea is that of "Type Inference against Races" (Flanagan and Freund, SAS 2004): a class has
// one formal ghost parameter, and every field, global, parameter, result and new object of the
// class an actual lock. They solve for all of them at once, by SAT. Here the locks of fields and
// globals are those that are held where the field is used; then all else follows by unification, in
// each method by itself. What stays open in a method is a ghost parameter of the method, and its
// callers say what it is: the principal types of ML, with recursion as in Mycroft's system, which
// ends because a method has no more of them than parameters. What does not fit gives up the class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/program.h"
#include "infer/classes.h"
#include "infer/conditional.h"
#include "infer/flow.h"
#include "infer/requirements.h"

namespace tomos::infer {

// What a class has its ghost parameter for.
enum class GhostUse : std::uint8_t {
  kGuards,    // fields: whoever uses an object holds the lock
  kProtects,  // the object's own locks (section 3.2); `none` will do where nobody holds one
};

// What a null stands for: in text for none, from a front end for what it does not know.
enum class Nulls : std::uint8_t { kNone, kUnknown };

// Names that nothing in a program has.
class FreeNames {
 public:
  explicit FreeNames(const core::Program& program);
  std::string make(const std::string& like);

 private:
  std::set<std::string> taken_;
};

// The classes that one class is a base or derived of, and theirs: they share a parameter. By the
// name of one of them.
class Families {
 public:
  explicit Families(const core::Program& program);
  std::string of(const std::string& class_name) const;

 private:
  std::map<std::string, std::string> parents_;
};

using GhostFamilies = std::map<std::string, GhostUse>;

struct GhostTypes {
  // Of a method, and of those that override it: a lock for each parameter and then the result, none
  // where the type has no ghost parameter.
  struct Signature {
    struct Place {
      std::optional<std::size_t> ghost;  // of the method's
      std::optional<LockId> lock;        // or a lock in its words

      friend bool operator==(const Place&, const Place&) = default;
    };
    std::vector<Place> places;
    std::size_t ghosts = 0;

    friend bool operator==(const Signature&, const Signature&) = default;
  };

  GhostFamilies families;  // those that worked out
  // Of these, classes that look after themselves: for them it is `always`, and they have none
  // (Fig. 10).
  std::set<std::string> exempt;
  LockId ghost = {};                       // of every class
  std::vector<std::string> method_ghosts;  // names
  std::map<const core::Field*, LockId> fields;
  std::vector<Signature> methods;
  std::map<ExprId, std::vector<LockId>> exprs;  // of new objects, calls and variables with a type
};

GhostTypes ghost_types(const core::Program& program, Locks& locks, Classes& classes,
                       const Flow& flow, Requirements& requirements, const GhostFamilies& wanted,
                       Nulls nulls);

// Adds them to a copy of the program that they were found for.
void add_ghosts(core::Program& copy, const core::Program& program, const GhostTypes& types,
                const Families& families);

}  // namespace tomos::infer
