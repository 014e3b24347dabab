// Which loads and stores the thread sanitizer's pass tells the runtime of, and what they may do:
// for the passes that tell of some in another way.
#pragma once

#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instruction.h>

namespace tomos::instrument {

// What the thread sanitizer would not look at is no concern of ours.
bool is_told(const llvm::Instruction& access);

// An access to a pointer to a table of virtual functions, which is told apart.
bool is_vtable_access(const llvm::Instruction& access);

// Whether what a store of this type puts into memory may be a pointer.
bool may_hold_pointer(llvm::Type& scalar, std::uint64_t bytes);

// A call that neither accesses memory nor leaves.
bool is_harmless(const llvm::CallBase& call);

}  // namespace tomos::instrument
