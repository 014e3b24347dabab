// Writes down what type each allocation makes, which debugging information does not keep.
//
// For `new T` clang attaches the type to the call. For malloc and its kin the type is that of the
// pointer the result goes to: a variable, or a member of a structure. So it is for other functions,
// which may have allocated what they return; their records have "()" behind the place, and the
// reader must find out whether they did. The records stand in a section of their own, read after
// the run and never by the program: "file\0line:column\0type\0", no addresses in them, so nothing
// needs relocation.
#include <llvm/ADT/StringMap.h>
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>

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

// What a pointer type points to; null for other types.
const llvm::DIType* pointee(const llvm::DIType* type) {
  while (const auto* derived = llvm::dyn_cast_or_null<llvm::DIDerivedType>(type)) {
    type = derived->getBaseType();
    if (derived->getTag() == llvm::dwarf::DW_TAG_pointer_type) return type;
  }
  return nullptr;
}

class HeapTypes {
 public:
  explicit HeapTypes(llvm::Module& module) : module_(module), names_(module) {}

  // "file\0line:column\0type\0"; empty if the call makes nothing of a known type.
  std::string record(const llvm::CallBase& call) {
    const llvm::DILocation* place = call.getDebugLoc();
    if (place == nullptr || place->getLine() == 0) return {};
    std::string type;
    std::string_view mark;
    if (const llvm::MDNode* attached = call.getMetadata("heapallocsite")) {
      type = names_.of(llvm::dyn_cast<llvm::DIType>(attached));
    } else if (is_c_allocation(call)) {
      type = names_.of(received_as(call));
    } else if (call.getType()->isPointerTy() && !llvm::isa<llvm::IntrinsicInst>(call)) {
      const llvm::DIType* received = received_as(call);
      if (is_whole_class(received)) type = names_.of(received);
      mark = "()";
    }
    if (type.empty()) return {};
    std::string record = place->getFilename().str();
    record += '\0';
    record += std::to_string(place->getLine()) + ":" + std::to_string(place->getColumn());
    record += mark;
    record += '\0';
    record += type;
    record += '\0';
    return record;
  }

 private:
  static bool is_whole_class(const llvm::DIType* type) {
    while (const auto* derived = llvm::dyn_cast_or_null<llvm::DIDerivedType>(type)) {
      if (derived->getTag() == llvm::dwarf::DW_TAG_pointer_type) return false;
      type = derived->getBaseType();
    }
    return llvm::isa_and_nonnull<llvm::DICompositeType>(type) && type->getSizeInBits() != 0;
  }

  // What the pointer that gets the result of a call points to, as its declaration has it.
  const llvm::DIType* received_as(const llvm::CallBase& call) {
    for (const llvm::User* user : call.users()) {
      const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
      if (store == nullptr || store->getValueOperand() != &call) continue;
      auto* target = const_cast<llvm::Value*>(store->getPointerOperand());
      if (auto* local = llvm::dyn_cast<llvm::AllocaInst>(target)) return pointee(type_of(local));
      if (auto* global = llvm::dyn_cast<llvm::GlobalVariable>(target)) {
        return pointee(type_of(*global));
      }
      if (auto* member = llvm::dyn_cast<llvm::GetElementPtrInst>(target)) {
        return pointee(type_of(*member));
      }
    }
    return nullptr;
  }

  // When optimising, declarations have become assignments by now.
  static const llvm::DIType* type_of(llvm::AllocaInst* local) {
    const llvm::DILocalVariable* variable = nullptr;
    for (const llvm::DbgVariableRecord* record : llvm::findDVRDeclares(local)) {
      variable = record->getVariable();
    }
    for (const llvm::DbgVariableRecord* record : llvm::at::getDVRAssignmentMarkers(local)) {
      variable = record->getVariable();
    }
    return variable == nullptr ? nullptr : variable->getType();
  }

  static const llvm::DIType* type_of(const llvm::GlobalVariable& global) {
    llvm::SmallVector<llvm::DIGlobalVariableExpression*, 1> described;
    global.getDebugInfo(described);
    return described.empty() ? nullptr : described.front()->getVariable()->getType();
  }

  const llvm::DIType* type_of(const llvm::GetElementPtrInst& member) {
    const auto* structure = llvm::dyn_cast<llvm::StructType>(member.getSourceElementType());
    if (structure == nullptr || !structure->hasName()) return nullptr;
    const llvm::DataLayout& layout = module_.getDataLayout();
    llvm::APInt offset(layout.getIndexTypeSizeInBits(member.getType()), 0);
    if (!member.accumulateConstantOffset(layout, offset)) return nullptr;
    const llvm::DICompositeType* type = structure_called(structure->getName());
    if (type == nullptr) return nullptr;
    for (const llvm::DINode* element : type->getElements()) {
      const auto* one = llvm::dyn_cast<llvm::DIDerivedType>(element);
      if (one != nullptr && one->getTag() == llvm::dwarf::DW_TAG_member && !one->isStaticMember() &&
          one->getOffsetInBits() == offset.getZExtValue() * 8) {
        return one->getBaseType();
      }
    }
    return nullptr;
  }

  // By LLVM's name, "struct.Queue": one without a name in C has its typedef's.
  const llvm::DICompositeType* structure_called(llvm::StringRef name) {
    if (!structures_) {
      structures_.emplace();
      llvm::DebugInfoFinder finder;
      finder.processModule(module_);
      for (const llvm::DIType* type : finder.types()) {
        const llvm::DIType* defined = type;
        if (type->getTag() == llvm::dwarf::DW_TAG_typedef) {
          defined = llvm::cast<llvm::DIDerivedType>(type)->getBaseType();
        }
        const auto* structure = llvm::dyn_cast_or_null<llvm::DICompositeType>(defined);
        if (structure == nullptr || structure->isForwardDecl()) continue;
        if (type == defined || structure->getName().empty()) {
          structures_->try_emplace(names_.of(type), structure);
        }
      }
    }
    return structures_->lookup(name.substr(name.find('.') + 1));
  }

  llvm::Module& module_;
  Names names_;
  std::optional<llvm::StringMap<const llvm::DICompositeType*>> structures_;  // once asked for
};

}  // namespace

bool record_heap_types(llvm::Module& module) {
  std::set<std::string> records;
  HeapTypes types(module);
  for (const llvm::Function& function : module) {
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call != nullptr) records.insert(types.record(*call));
    }
  }
  records.erase("");
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
