// Tells the runtime where functions begin and end: the default transactions are the functions with
// external linkage and the non-private methods of the user's own code.
//
// Every such function gets a FunctionDescriptor, a call to __tomos_enter at its entry and one to
// __tomos_exit at every way out of it, unwinding included. A function that cannot be a transaction
// is told as well when a thread may start in it (its address is taken, or it is an operator()): a
// thread entry is no transaction, and the runtime must not take the first function below it for
// one. Functions that make one access at most are left alone.
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/EscapeEnumerator.h>

#include "names.h"
#include "passes.h"
#include "runtime/abi.h"
#include "waits.h"

namespace tomos::instrument {
namespace {

using Flags = std::uint32_t;

// What the source says about functions: TOMOS_ATOMIC_FUNCTION, TOMOS_NOT_ATOMIC_FUNCTION. Clang
// keeps annotate("...") in a global array of {function, text, file, line, arguments}.
llvm::DenseMap<const llvm::Function*, Flags> annotated(const llvm::Module& module) {
  llvm::DenseMap<const llvm::Function*, Flags> marks;
  const llvm::GlobalVariable* all = module.getGlobalVariable("llvm.global.annotations");
  if (all == nullptr || !all->hasInitializer()) return marks;
  const auto* rows = llvm::dyn_cast<llvm::ConstantArray>(all->getInitializer());
  if (rows == nullptr) return marks;
  for (const llvm::Use& use : rows->operands()) {
    const auto* row = llvm::dyn_cast<llvm::ConstantStruct>(use.get());
    if (row == nullptr || row->getNumOperands() < 2) continue;
    const auto* function = llvm::dyn_cast<llvm::Function>(row->getOperand(0)->stripPointerCasts());
    const auto* text =
        llvm::dyn_cast<llvm::GlobalVariable>(row->getOperand(1)->stripPointerCasts());
    if (function == nullptr || text == nullptr || !text->hasInitializer()) continue;
    const auto* characters = llvm::dyn_cast<llvm::ConstantDataArray>(text->getInitializer());
    if (characters == nullptr || !characters->isCString()) continue;
    if (characters->getAsCString() == "tomos::atomic") marks[function] |= runtime::kAtomic;
    if (characters->getAsCString() == "tomos::not_atomic") marks[function] |= runtime::kNotAtomic;
  }
  return marks;
}

// Private as the source means it: debugging information leaves out what is the default, which for
// the members of a class is private.
bool is_private(const llvm::DISubprogram& function) {
  const llvm::DISubprogram* declaration = function.getDeclaration();
  if (declaration == nullptr) return false;
  if (declaration->isPrivate()) return true;
  if (declaration->isProtected() || declaration->isPublic()) return false;
  const llvm::DIScope* scope = declaration->getScope();
  return scope != nullptr && scope->getTag() == llvm::dwarf::DW_TAG_class_type;
}

// A lambda, or a method of a class inside a function: nobody outside can call it by name.
bool is_local(const llvm::Function& function, const llvm::DISubprogram& described) {
  if (function.getName().starts_with("_ZZ")) return true;
  const llvm::DISubprogram* declaration = described.getDeclaration();
  const llvm::DIScope* scope = declaration != nullptr ? declaration->getScope() : nullptr;
  return is_closure(scope);
}

bool is_artificial(const llvm::DISubprogram& function) {
  const llvm::DISubprogram* declaration = function.getDeclaration();
  return function.isArtificial() || function.isThunk() ||
         (declaration != nullptr && declaration->isArtificial());
}

bool is_call_operator(const llvm::DISubprogram& function) {
  return function.getName().starts_with("operator()");
}

// The source's own wish not to be instrumented shows as the lack of the sanitizer's attribute.
bool may_be_instrumented(const llvm::Function& function) {
  return !function.isDeclaration() && !function.hasAvailableExternallyLinkage() &&
         function.hasFnAttribute(llvm::Attribute::SanitizeThread) &&
         !function.hasFnAttribute(llvm::Attribute::DisableSanitizerInstrumentation) &&
         !function.hasFnAttribute(llvm::Attribute::Naked) &&
         // A coroutine leaves at each suspension and may go on in another thread.
         !function.isPresplitCoroutine() &&
         // Initialisers of globals, and their destructors.
         !function.getName().starts_with("__cxx_global_") &&
         !function.getName().starts_with("_GLOBAL_") && !function.getName().starts_with("__dtor_");
}

bool is_candidate(const llvm::Function& function, const llvm::DISubprogram& described) {
  return !function.hasLocalLinkage() && function.getName() != "main" &&
         !is_local(function, described) && !is_private(described);
}

// Memory that is not the function's own frame.
bool is_elsewhere(const llvm::Value* pointer) {
  return !llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer));
}

// What such an instruction adds to the accesses of its function.
unsigned accesses_of(llvm::Instruction& instruction, const llvm::DataLayout& layout) {
  const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
  if (pointer == nullptr || !is_elsewhere(pointer)) return 0;
  return layout.getTypeStoreSize(llvm::getLoadStoreType(&instruction)) <= 8 ? 1 : 2;
}

// A function that makes one access at most, like most of what only returns a member. Nothing can
// cut it: to the analyses it is that access.
bool is_one_access(llvm::Function& function) {
  if (function.size() != 1) return false;
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  unsigned accesses = 0;
  for (llvm::Instruction& instruction : function.getEntryBlock()) {
    if (instruction.isDebugOrPseudoInst() || instruction.isLifetimeStartOrEnd()) continue;
    if (llvm::isa<llvm::CallBase, llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst, llvm::VAArgInst>(
            instruction)) {
      return false;
    }
    accesses += accesses_of(instruction, layout);
  }
  return accesses <= 1;
}

class Marker {
 public:
  explicit Marker(llvm::Module& module) : module_(module), names_(module) {
    llvm::LLVMContext& context = module.getContext();
    pointer_ = llvm::PointerType::getUnqual(context);
    word_ = llvm::Type::getInt32Ty(context);
    descriptor_ = llvm::StructType::get(context, {pointer_, pointer_, word_, word_, word_, word_});
    const llvm::AttributeList nounwind = llvm::AttributeList::get(
        context, llvm::AttributeList::FunctionIndex, {llvm::Attribute::NoUnwind});
    llvm::Type* none = llvm::Type::getVoidTy(context);
    enter_ = module.getOrInsertFunction("__tomos_enter", nounwind, none, pointer_);
    exit_ = module.getOrInsertFunction("__tomos_exit", nounwind, none, pointer_);
  }

  void mark(llvm::Function& function, const llvm::DISubprogram& described, Flags flags) {
    llvm::Constant* descriptor = make_descriptor(function, described, flags);
    // __attribute__((const)) and ((pure)) hold no longer inside; calls may still be merged.
    function.removeFnAttr(llvm::Attribute::Memory);

    // Ways out first: the new entry call is no place from which to unwind.
    llvm::EscapeEnumerator ways_out(function, "tomos_unwind");
    while (llvm::IRBuilder<>* builder = ways_out.Next()) {
      if (!builder->getCurrentDebugLocation()) builder->SetCurrentDebugLocation(place(described));
      call(*builder, exit_, descriptor);
    }
    // After the variables of the frame, which stand first so that they are part of it.
    llvm::BasicBlock& first = function.getEntryBlock();
    llvm::IRBuilder<> builder(&first, first.getFirstNonPHIOrDbgOrAlloca());
    builder.SetCurrentDebugLocation(place(described));
    call(builder, enter_, descriptor);
  }

 private:
  // Such a call is nothing to the inliner: what it would inline without them it still does, and the
  // program keeps the shape for which it was written.
  void call(llvm::IRBuilder<>& builder, llvm::FunctionCallee what, llvm::Constant* descriptor) {
    builder.CreateCall(what, {descriptor})
        ->addFnAttr(llvm::Attribute::get(module_.getContext(), "call-inline-cost", "0"));
  }

  static llvm::DebugLoc place(const llvm::DISubprogram& described) {
    auto* scope = const_cast<llvm::DISubprogram*>(&described);
    return llvm::DILocation::get(described.getContext(), described.getLine(), 0, scope);
  }

  llvm::Constant* text(llvm::StringRef value) {
    llvm::GlobalVariable*& known = texts_[value];
    if (known == nullptr) {
      llvm::Constant* characters =
          llvm::ConstantDataArray::getString(module_.getContext(), value, /*AddNull=*/true);
      known = new llvm::GlobalVariable(module_, characters->getType(), /*isConstant=*/true,
                                       llvm::GlobalValue::PrivateLinkage, characters, "tomos_text");
      known->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
      known->setAlignment(llvm::Align(1));
    }
    return known;
  }

  // Private to the module even for an inline function that several modules define: its inlined
  // copies refer to it from functions that the linker keeps when it drops the rest.
  llvm::Constant* make_descriptor(const llvm::Function& function,
                                  const llvm::DISubprogram& described, Flags flags) {
    llvm::Constant* zero = llvm::ConstantInt::get(word_, 0);
    llvm::Constant* values = llvm::ConstantStruct::get(
        descriptor_, {text(names_.of(function)), text(path_of(*described.getFile())),
                      llvm::ConstantInt::get(word_, described.getLine()),
                      llvm::ConstantInt::get(word_, flags), zero, zero});
    auto* global =
        new llvm::GlobalVariable(module_, descriptor_, /*isConstant=*/false,
                                 llvm::GlobalValue::PrivateLinkage, values, "tomos_function");
    global->setAlignment(llvm::Align(8));
    return global;
  }

  llvm::Module& module_;
  Names names_;
  llvm::Type* pointer_ = nullptr;
  llvm::Type* word_ = nullptr;
  llvm::StructType* descriptor_ = nullptr;
  llvm::FunctionCallee enter_;
  llvm::FunctionCallee exit_;
  llvm::StringMap<llvm::GlobalVariable*> texts_;
};

}  // namespace

bool mark_functions(llvm::Module& module) {
  struct Chosen {
    llvm::Function* function;
    const llvm::DISubprogram* described;
    Flags flags;
  };
  const llvm::DenseMap<const llvm::Function*, Flags> marks = annotated(module);
  const llvm::DenseSet<const llvm::Function*> waiting = functions_that_wait(module);
  // Chosen before any is changed: our own descriptors must not count as taking an address.
  std::vector<Chosen> chosen;
  for (llvm::Function& function : module) {
    const llvm::DISubprogram* described = function.getSubprogram();
    if (described == nullptr || !may_be_instrumented(function)) continue;
    Flags flags = marks.lookup(&function);
    if (flags == 0 && (is_artificial(*described) || is_system_file(described->getFile()))) continue;
    if (flags == 0 && is_one_access(function)) continue;
    if (is_candidate(function, *described)) flags |= runtime::kCandidate;
    const bool may_start_thread =
        is_call_operator(*described) ||
        function.hasAddressTaken(nullptr, /*IgnoreCallbackUses=*/false,
                                 /*IgnoreAssumeLikeCalls=*/true, /*IngoreLLVMUsed=*/true);
    if (flags == 0 && (!may_start_thread || function.getName() == "main")) continue;
    if (waiting.contains(&function)) flags |= runtime::kWaits;
    chosen.push_back({&function, described, flags | runtime::kUserCode});
  }
  if (chosen.empty()) return false;
  Marker marker(module);
  for (const Chosen& one : chosen) marker.mark(*one.function, *one.described, one.flags);
  return true;
}

}  // namespace tomos::instrument
