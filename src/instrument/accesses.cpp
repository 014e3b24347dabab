#include "accesses.h"

#include <llvm/Analysis/CaptureTracking.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

namespace tomos::instrument {

bool is_told(const llvm::Instruction& access) {
  if (access.hasMetadata(llvm::LLVMContext::MD_nosanitize)) return false;
  const llvm::Value* address = llvm::getLoadStorePointerOperand(&access);
  if (address->getType()->getPointerAddressSpace() != 0) return false;
  const llvm::Value* object = llvm::getUnderlyingObject(address);
  if (const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(object)) {
    if (global->isConstant()) return false;
  }
  return !llvm::isa<llvm::AllocaInst>(object) ||
         llvm::PointerMayBeCaptured(object, /*ReturnCaptures=*/true, /*StoreCaptures=*/true);
}

bool is_vtable_access(const llvm::Instruction& access) {
  const llvm::MDNode* tag = access.getMetadata(llvm::LLVMContext::MD_tbaa);
  return tag != nullptr && tag->isTBAAVtableAccess();
}

bool may_hold_pointer(llvm::Type& scalar, std::uint64_t bytes) {
  return bytes >= 8 && !scalar.isFloatingPointTy();
}

bool is_harmless(const llvm::CallBase& call) {
  return call.doesNotAccessMemory() ? call.doesNotThrow()
                                    : llvm::isa<llvm::AssumeInst, llvm::DbgInfoIntrinsic>(call);
}

}  // namespace tomos::instrument
