// The pass plugin that tomos-cc and tomos-c++ load into clang: what the thread sanitizer's
// instrumentation lacks.
//
// Nearly all of it runs at the very start of the optimiser, so functions that will be inlined still
// have their boundaries, and at -O0 too. The thread sanitizer's own pass comes last, after
// optimisation.
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>

#include "passes.h"

namespace {

namespace instrument = tomos::instrument;

template <bool (*... kPasses)(llvm::Module&)>
struct Passes : llvm::PassInfoMixin<Passes<kPasses...>> {
  // NOLINTNEXTLINE(readability-identifier-naming): the name that LLVM looks for
  static llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& /*all*/) {
    bool changed = false;
    ((changed |= kPasses(module)), ...);
    return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }  // functions marked optnone are the user's too
};
using First = Passes<instrument::mark_std_synchronisation, instrument::mark_functions,
                     instrument::record_heap_types>;
using Last = Passes<instrument::tell_wide_accesses, instrument::call_runtime_directly>;

struct Optimised : llvm::PassInfoMixin<Optimised> {
  // NOLINTNEXTLINE(readability-identifier-naming): the name that LLVM looks for
  static llvm::PreservedAnalyses run(llvm::Function& function,
                                     llvm::FunctionAnalysisManager& analyses) {
    bool changed = instrument::tell_loops(function, analyses);
    changed |= instrument::ask_for_groups(function);
    return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
  }
};

}  // namespace

extern "C" [[gnu::visibility("default")]] llvm::PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "tomos", LLVM_VERSION_STRING, [](llvm::PassBuilder& builder) {
            builder.registerPipelineStartEPCallback(
                [](llvm::ModulePassManager& passes, llvm::OptimizationLevel /*level*/) {
                  passes.addPass(First());
                });
            builder.registerOptimizerLastEPCallback(
                [](llvm::ModulePassManager& passes, llvm::OptimizationLevel level) {
                  if (level != llvm::OptimizationLevel::O0) {
                    passes.addPass(llvm::createModuleToFunctionPassAdaptor(Optimised()));
                  }
                  passes.addPass(Last());
                });
          }};
}
