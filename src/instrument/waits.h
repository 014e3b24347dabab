// Which functions of a module wait on a condition or for input, and so are no transactions.
#pragma once

#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Module.h>

namespace tomos::instrument {

// Those that call a function of the system which waits, or another one here that does. What goes
// through pointers, virtual functions and other modules is not seen; the runtime learns of it when
// it first waits.
llvm::DenseSet<const llvm::Function*> functions_that_wait(const llvm::Module& module);

}  // namespace tomos::instrument
