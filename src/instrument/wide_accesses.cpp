// Tells the runtime of loads and stores whose size the thread sanitizer does not know: long double,
// vectors of more than sixteen bytes. Its pass leaves them out.
//
// It runs just before that pass.
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <cstdint>
#include <string>

#include "passes.h"

namespace tomos::instrument {
namespace {

// 0: the thread sanitizer looks after it.
std::uint64_t odd_size(llvm::Instruction& instruction, const llvm::DataLayout& layout) {
  if (!llvm::isa<llvm::LoadInst, llvm::StoreInst>(instruction) ||
      instruction.hasMetadata(llvm::LLVMContext::MD_nosanitize) ||
      llvm::getLoadStoreAddressSpace(&instruction) != 0) {
    return 0;
  }
  const llvm::TypeSize size = layout.getTypeStoreSize(llvm::getLoadStoreType(&instruction));
  if (size.isScalable()) return 0;
  const std::uint64_t bytes = size.getFixedValue();
  return bytes <= 16 && (bytes & (bytes - 1)) == 0 ? 0 : bytes;
}

}  // namespace

bool tell_wide_accesses(llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  const llvm::AttributeList attributes =
      llvm::AttributeList::get(context, llvm::AttributeList::FunctionIndex,
                               {llvm::Attribute::NoUnwind, llvm::Attribute::NonLazyBind});
  bool changed = false;
  for (llvm::Function& function : module) {
    if (!function.hasFnAttribute(llvm::Attribute::SanitizeThread)) continue;
    for (llvm::Instruction& access : llvm::instructions(function)) {
      const std::uint64_t size = odd_size(access, module.getDataLayout());
      if (size == 0) continue;
      llvm::IRBuilder<> builder(&access);
      const std::string name =
          llvm::isa<llvm::StoreInst>(access) ? "__tsan_unaligned_write" : "__tsan_unaligned_read";
      // In pieces of the sizes that there are.
      for (std::uint64_t at = 0, piece = 16; at < size; at += piece) {
        while (piece > size - at) piece /= 2;
        const llvm::FunctionCallee tell = module.getOrInsertFunction(
            name + std::to_string(piece), attributes, builder.getVoidTy(), builder.getPtrTy());
        builder.CreateCall(
            tell, builder.CreateConstGEP1_64(builder.getInt8Ty(),
                                             llvm::getLoadStorePointerOperand(&access), at));
      }
      changed = true;
    }
  }
  return changed;
}

}  // namespace tomos::instrument
