// Shortens the way into the runtime: through the global offset table straight away instead of
// through a stub that jumps there. There is a call for nearly every access to memory, so a jump
// saved shows.
//
// It runs just before the thread sanitizer's pass, which takes the declarations that it finds.
// Those that it does not need vanish.
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Module.h>

#include <array>
#include <string>

#include "passes.h"

namespace tomos::instrument {

bool call_runtime_directly(llvm::Module& module) {
  constexpr std::array kAccesses = std::to_array<const char*>(
      {"__tsan_read", "__tsan_write", "__tsan_unaligned_read", "__tsan_unaligned_write"});
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* none = llvm::Type::getVoidTy(context);
  llvm::Type* pointer = llvm::PointerType::getUnqual(context);
  const llvm::AttributeList attributes =
      llvm::AttributeList::get(context, llvm::AttributeList::FunctionIndex,
                               {llvm::Attribute::NoUnwind, llvm::Attribute::NonLazyBind});
  for (const char* access : kAccesses) {
    for (const char* size : {"1", "2", "4", "8", "16"}) {
      module.getOrInsertFunction(std::string(access) + size, attributes, none, pointer);
    }
  }
  module.getOrInsertFunction("__tsan_func_entry", attributes, none, pointer);
  module.getOrInsertFunction("__tsan_func_exit", attributes, none);
  for (const char* ours : {"__tomos_enter", "__tomos_exit"}) {
    if (llvm::Function* function = module.getFunction(ours)) {
      function->addFnAttr(llvm::Attribute::NonLazyBind);
    }
  }
  return true;
}

}  // namespace tomos::instrument
