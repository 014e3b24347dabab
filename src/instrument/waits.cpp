// A walk of the module's call graph from what waits to its callers.
//
// It foretells what the runtime learns at the first wait (see waiting() in runtime/hooks.h), and no
// more than that: it would learn it in some runs only, and what is atomic must not depend on the
// run. So semaphores are not among it, which may be locks, nor barriers and latches, which end a
// transaction each time.
#include "waits.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/InstrTypes.h>

#include <optional>
#include <vector>

#include "runtime/abi.h"

namespace tomos::instrument {
namespace {

bool waits_on_condition(llvm::StringRef name) {
  return llvm::is_contained(runtime::kConditionWaits, name);
}

// Where a function that waits for input takes its time limit.
std::optional<unsigned> limit_of_input(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<unsigned>>(name)
      .Cases("poll", "ppoll", 2)
      .Cases("epoll_wait", "epoll_pwait", 3)
      .Cases("select", "pselect", 4)
      .Default(std::nullopt);
}

// Waits for input unless the limit is zero. A limit that is known when the program runs may be.
bool waits_for_input(const llvm::CallBase& call, llvm::StringRef name) {
  const std::optional<unsigned> limit = limit_of_input(name);
  if (!limit || *limit >= call.arg_size()) return false;
  const llvm::Value* value = call.getArgOperand(*limit);
  if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(value)) return !number->isZero();
  return llvm::isa<llvm::ConstantPointerNull>(value);
}

}  // namespace

llvm::DenseSet<const llvm::Function*> functions_that_wait(const llvm::Module& module) {
  llvm::DenseMap<const llvm::Function*, std::vector<const llvm::Function*>> callers;
  llvm::DenseSet<const llvm::Function*> found;
  std::vector<const llvm::Function*> open;
  const auto add = [&](const llvm::Function* function) {
    if (found.insert(function).second) open.push_back(function);
  };
  for (const llvm::Function& function : module) {
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call == nullptr) continue;
      const auto* callee =
          llvm::dyn_cast<llvm::Function>(call->getCalledOperand()->stripPointerCastsAndAliases());
      if (callee == nullptr) continue;
      if (!callee->isDeclaration()) {
        callers[callee].push_back(&function);
      } else if (waits_on_condition(callee->getName()) ||
                 waits_for_input(*call, callee->getName())) {
        add(&function);
      }
    }
  }
  while (!open.empty()) {
    const llvm::Function* waiting = open.back();
    open.pop_back();
    for (const llvm::Function* caller : callers.lookup(waiting)) add(caller);
  }
  return found;
}

}  // namespace tomos::instrument
