// What the plugin does to a module, in this order; the last four after optimisation. Each says
// what it is about in its own file.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>

namespace tomos::instrument {

bool mark_std_synchronisation(llvm::Module& module);
bool mark_functions(llvm::Module& module);
bool record_heap_types(llvm::Module& module);
bool tell_loops(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
bool ask_for_groups(llvm::Function& function);
bool tell_wide_accesses(llvm::Module& module);
bool call_runtime_directly(llvm::Module& module);

}  // namespace tomos::instrument
