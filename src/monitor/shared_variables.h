// Which accesses count (Wang & Stoller, section 3): a variable made by `new` is its maker's own
// until it escapes, and what happens to it before cannot be cut by anybody.
//
// Gives every variable a dense number of its own at the first access that counts. After `free` the
// same name is another variable.
#pragma once

#include <cstdint>
#include <vector>

#include "event/event.h"

namespace tomos {

using SharedId = std::uint32_t;

class SharedVariables {
 public:
  // Without escape analysis every access counts.
  explicit SharedVariables(bool escape) : escape_(escape) {}

  static constexpr SharedId kLocal = ~SharedId{0};

  // The variable; kLocal while it is the thread's own. A variable that another thread gets at has
  // escaped, whether an event said so or not.
  SharedId access(ThreadId thread, VariableId variable) {
    if (variable >= states_.size()) states_.resize(variable + std::size_t{1});
    State& state = states_[variable];
    if (state.owner != kShared) {
      if (state.owner == thread) return kLocal;
      state.owner = kShared;
    }
    if (state.id == kLocal) {
      state.id = static_cast<SharedId>(variables_.size());
      variables_.push_back(variable);
    }
    return state.id;
  }

  void on_new(ThreadId thread, VariableId variable) {
    reset(variable).owner = escape_ ? thread : kShared;
  }
  void on_escape(VariableId variable) {
    if (variable < states_.size()) states_[variable].owner = kShared;
  }
  void on_free(VariableId variable) { reset(variable); }

  // The number it has now; kLocal if no access has counted yet.
  SharedId current(VariableId variable) const {
    return variable < states_.size() ? states_[variable].id : kLocal;
  }

  VariableId variable(SharedId id) const { return variables_[id]; }
  std::size_t size() const { return variables_.size(); }

 private:
  static constexpr ThreadId kShared = ~ThreadId{0};
  struct State {
    SharedId id = kLocal;
    ThreadId owner = kShared;
  };
  State& reset(VariableId variable) {
    if (variable >= states_.size()) states_.resize(variable + std::size_t{1});
    return states_[variable] = {};
  }

  bool escape_;
  std::vector<State> states_;          // by VariableId
  std::vector<VariableId> variables_;  // by SharedId
};

}  // namespace tomos
