// Writes down what type each allocation makes, which debugging information does not keep.
//
// For `new T` clang attaches the type to the call. For malloc and its kin the type is that of the
// pointer variable the result goes to, if it goes to one. The records stand in a section of their
// own, read after the run and never by the program: "file\0line:column\0type\0", no addresses in
// them, so nothing needs relocation.
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <set>
#include <string>

#include "names.h"
#include "passes.h"

namespace tomos::instrument {
namespace {

bool is_c_allocation(const llvm::CallBase& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (callee == nullptr) return false;
  const llvm::StringRef name = callee->getName();
  return name == "malloc" || name == "calloc" || name == "realloc" || name == "reallocarray" ||
         name == "aligned_alloc" || name == "memalign" || name == "valloc";
}

// The type that the variable at `address` points to, as its declaration has it. When optimising,
// declarations have become assignments by now.
const llvm::DIType* pointee_of_variable(llvm::AllocaInst* address) {
  const llvm::DILocalVariable* variable = nullptr;
  for (const llvm::DbgVariableRecord* record : llvm::findDVRDeclares(address)) {
    variable = record->getVariable();
  }
  for (const llvm::DbgVariableRecord* record : llvm::at::getDVRAssignmentMarkers(address)) {
    variable = record->getVariable();
  }
  if (variable == nullptr) return nullptr;
  const llvm::DIType* type = variable->getType();
  while (const auto* derived = llvm::dyn_cast_or_null<llvm::DIDerivedType>(type)) {
    type = derived->getBaseType();
    if (derived->getTag() == llvm::dwarf::DW_TAG_pointer_type) return type;
  }
  return nullptr;
}

const llvm::DIType* allocated_type(const llvm::CallBase& call) {
  if (const llvm::MDNode* type = call.getMetadata("heapallocsite")) {
    return llvm::dyn_cast<llvm::DIType>(type);
  }
  if (!is_c_allocation(call)) return nullptr;
  for (const llvm::User* user : call.users()) {
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
    if (store == nullptr || store->getValueOperand() != &call) continue;
    auto* variable =
        llvm::dyn_cast<llvm::AllocaInst>(const_cast<llvm::Value*>(store->getPointerOperand()));
    if (variable != nullptr) return pointee_of_variable(variable);
  }
  return nullptr;
}

}  // namespace

bool record_heap_types(llvm::Module& module) {
  std::set<std::string> records;
  Names names(module);
  for (const llvm::Function& function : module) {
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      const llvm::DILocation* place = instruction.getDebugLoc();
      if (call == nullptr || place == nullptr || place->getLine() == 0) continue;
      const std::string type = names.of(allocated_type(*call));
      if (type.empty()) continue;
      std::string record = place->getFilename().str();
      record += '\0';
      record += std::to_string(place->getLine()) + ":" + std::to_string(place->getColumn());
      record += '\0';
      record += type;
      record += '\0';
      records.insert(std::move(record));
    }
  }
  if (records.empty()) return false;

  std::string all;
  for (const std::string& record : records) all += record;
  llvm::Constant* bytes =
      llvm::ConstantDataArray::getString(module.getContext(), all, /*AddNull=*/false);
  auto* global =
      new llvm::GlobalVariable(module, bytes->getType(), /*isConstant=*/true,
                               llvm::GlobalValue::PrivateLinkage, bytes, "tomos_heap_types");
  global->setSection("tomos_heap_types");
  global->setAlignment(llvm::Align(1));
  // Nothing refers to it, and it must outlive the linker's --gc-sections too.
  llvm::appendToUsed(module, {global});
  return true;
}

}  // namespace tomos::instrument
