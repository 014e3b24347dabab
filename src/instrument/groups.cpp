// Asks the runtime once for several accesses to neighbouring memory, instead of telling it of each:
// the fields of an object that a block of code reads and writes.
//
// The question stands before the first of them. If there is nothing to be said of any (only this
// thread can reach the memory, or it is on record that it reads there), all are passed over; if
// there is, each is told at its place as usual, so that nothing changes its place among the others.
//
// The answer must hold until the last access of the group. Nothing that synchronises comes in
// between, no store that could hand the memory to other threads, and no write that may be to the
// same memory by another name.
//
// It runs just before the thread sanitizer's pass, after the loops that are told in advance have
// been dealt with.
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "accesses.h"
#include "passes.h"
#include "runtime/abi.h"

namespace tomos::instrument {
namespace {

constexpr std::size_t kFew = 3;  // the least that a question pays for

struct Member {
  llvm::Instruction* access;
  llvm::Value* base;
  std::int64_t offset;  // from the base
  std::int64_t size;
  bool write;
  bool pointers;  // what it stores may be pointers
};

struct Group {
  llvm::Value* base;
  std::int64_t start;
  std::int64_t end;
  std::vector<Member> members;

  bool takes(const Member& next) const {
    return base == next.base &&
           std::max(end, next.offset + next.size) - std::min(start, next.offset) <=
               std::int64_t{runtime::kMaxGroupBytes};
  }
  void add(const Member& next) {
    start = std::min(start, next.offset);
    end = std::max(end, next.offset + next.size);
    members.push_back(next);
  }
};

class GroupFinder {
 public:
  explicit GroupFinder(const llvm::DataLayout& layout) : layout_(layout) {}

  std::vector<Group> find(llvm::Function& function) {
    const llvm::DominatorTree dominators(function);
    const llvm::PostDominatorTree post_dominators(function);
    llvm::SmallPtrSet<const llvm::BasicBlock*, 32> done;
    for (llvm::BasicBlock* first : llvm::ReversePostOrderTraversal(&function)) {
      for (llvm::BasicBlock* block = first; block != nullptr && done.insert(block).second;
           block = rejoined(*block, dominators, post_dominators)) {
        for (llvm::Instruction& instruction : *block) look_at(instruction);
      }
      close_all();
    }
    return std::move(groups_);
  }

 private:
  void look_at(llvm::Instruction& instruction) {
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
      if (!is_harmless(*call)) close_all();
      return;
    }
    if (!instruction.mayReadOrWriteMemory()) return;
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    if ((load == nullptr || !load->isSimple()) && (store == nullptr || !store->isSimple())) {
      close_all();
      return;
    }
    if (!is_told(instruction)) return;
    const std::optional<Member> member = member_of(instruction);
    const auto fits = [&](const Group& group) { return member && group.takes(*member); };
    if (store != nullptr) close_if(std::not_fn(fits));
    if (!member) return;
    const auto found = std::ranges::find_if(open_, fits);
    if (found != open_.end()) {
      found->add(*member);
    } else {
      open_.push_back({.base = member->base,
                       .start = member->offset,
                       .end = member->offset + member->size,
                       .members = {*member}});
    }
  }

  template <class Condition>
  void close_if(Condition condition) {
    std::erase_if(open_, [&](Group& group) {
      if (!condition(group)) return false;
      if (group.members.size() >= kFew) groups_.push_back(std::move(group));
      return true;
    });
  }
  void close_all() {
    close_if([](const Group&) { return true; });
  }

  // The block where all ways that leave this one meet again, if nothing happens on them that a
  // group would have to end for; nullptr: none.
  llvm::BasicBlock* rejoined(llvm::BasicBlock& block, const llvm::DominatorTree& dominators,
                             const llvm::PostDominatorTree& post_dominators) const {
    constexpr std::size_t kMostBetween = 8;
    if (open_.empty()) return nullptr;
    const llvm::DomTreeNode* node = post_dominators.getNode(&block);
    llvm::BasicBlock* const meeting =
        node != nullptr && node->getIDom() != nullptr ? node->getIDom()->getBlock() : nullptr;
    if (meeting == nullptr || meeting == &block) return nullptr;
    llvm::SmallSetVector<llvm::BasicBlock*, kMostBetween> between;
    between.insert(&block);
    for (std::size_t i = 0; i < between.size(); ++i) {
      for (llvm::BasicBlock* next : llvm::successors(between[i])) {
        if (next == meeting) continue;
        if (between.size() > kMostBetween || !dominators.properlyDominates(&block, next) ||
            llvm::any_of(*next, [](llvm::Instruction& one) { return ends_groups(one); })) {
          return nullptr;
        }
        between.insert(next);
      }
    }
    // Otherwise it can be reached again without the question.
    const bool only_from_here =
        llvm::all_of(llvm::predecessors(meeting),
                     [&](llvm::BasicBlock* from) { return between.contains(from); });
    return only_from_here ? meeting : nullptr;
  }

  // May do so: for what lies aside.
  static bool ends_groups(const llvm::Instruction& instruction) {
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) return !is_harmless(*call);
    return instruction.mayReadOrWriteMemory();
  }

  std::optional<Member> member_of(llvm::Instruction& access) const {
    if (is_vtable_access(access)) return std::nullopt;
    llvm::Type* type = llvm::getLoadStoreType(&access);
    const llvm::TypeSize bytes = layout_.getTypeStoreSize(type);
    if (bytes.isScalable()) return std::nullopt;
    const std::uint64_t size = bytes.getFixedValue();
    if (size != 1 && size != 2 && size != 4 && size != 8 && size != 16) return std::nullopt;
    if (llvm::getLoadStoreAlignment(&access).value() < std::min<std::uint64_t>(size, 8)) {
      return std::nullopt;
    }
    llvm::Value* address = llvm::getLoadStorePointerOperand(&access);
    llvm::APInt offset(layout_.getIndexTypeSizeInBits(address->getType()), 0);
    llvm::Value* base = address->stripAndAccumulateConstantOffsets(layout_, offset,
                                                                   /*AllowNonInbounds=*/true);
    const bool write = llvm::isa<llvm::StoreInst>(access);
    return Member{.access = &access,
                  .base = base,
                  .offset = offset.getSExtValue(),
                  .size = static_cast<std::int64_t>(size),
                  .write = write,
                  .pointers = write && may_hold_pointer(*type->getScalarType(), size)};
  }

  const llvm::DataLayout& layout_;
  std::vector<Group> open_;
  std::vector<Group> groups_;
};

std::uint32_t describe(const Group& group) {
  auto what = static_cast<std::uint32_t>(group.end - group.start);
  std::uint32_t words = 0;
  bool whole = true;
  for (const Member& member : group.members) {
    what |= member.write ? runtime::kGroupWrites : runtime::kGroupReads;
    if (member.pointers) what |= runtime::kGroupPointers;
    whole &= member.size >= 8;
    const auto first = static_cast<unsigned>(member.offset - group.start) / 8;
    words |= (member.size == 16 ? 3U : 1U) << first;
  }
  return what | (whole ? words << runtime::kGroupWordsShift : 0);
}

class Asker {
 public:
  explicit Asker(llvm::Module& module) : module_(module) {
    llvm::LLVMContext& context = module.getContext();
    pointer_ = llvm::PointerType::getUnqual(context);
    rarely_ = llvm::MDBuilder(context).createUnlikelyBranchWeights();
    plain_ = attributes({});
    quiet_ = module.getOrInsertFunction(
        "__tomos_quiet", attributes({llvm::Attribute::get(context, llvm::Attribute::ZExt)}),
        llvm::Type::getInt1Ty(context), pointer_, llvm::Type::getInt32Ty(context));
  }

  void ask(const Group& group) {
    const Member& first = group.members.front();
    llvm::IRBuilder<> builder(first.access);
    llvm::Value* start = llvm::getLoadStorePointerOperand(first.access);
    if (first.offset != group.start) {
      start = builder.CreatePtrAdd(
          start, builder.getInt64(static_cast<std::uint64_t>(group.start - first.offset)));
    }
    llvm::Value* quiet = builder.CreateCall(quiet_, {start, builder.getInt32(describe(group))});
    llvm::Value* told = builder.CreateNot(quiet);
    for (const Member& member : group.members) {
      llvm::Instruction* at =
          llvm::SplitBlockAndInsertIfThen(told, member.access, /*Unreachable=*/false, rarely_);
      builder.SetInsertPoint(at);
      builder.SetCurrentDebugLocation(member.access->getDebugLoc());
      const std::string name =
          (member.write ? "__tsan_write" : "__tsan_read") + std::to_string(member.size);
      builder.CreateCall(module_.getOrInsertFunction(name, plain_, builder.getVoidTy(), pointer_),
                         {llvm::getLoadStorePointerOperand(member.access)});
      member.access->setMetadata(llvm::LLVMContext::MD_nosanitize,
                                 llvm::MDNode::get(module_.getContext(), {}));
    }
  }

 private:
  llvm::AttributeList attributes(llvm::ArrayRef<llvm::Attribute> result) const {
    llvm::LLVMContext& context = module_.getContext();
    llvm::AttributeList list =
        llvm::AttributeList::get(context, llvm::AttributeList::FunctionIndex,
                                 {llvm::Attribute::NoUnwind, llvm::Attribute::NonLazyBind});
    for (const llvm::Attribute& one : result) list = list.addRetAttribute(context, one);
    return list;
  }

  llvm::Module& module_;
  llvm::Type* pointer_ = nullptr;
  llvm::MDNode* rarely_ = nullptr;
  llvm::AttributeList plain_;
  llvm::FunctionCallee quiet_;
};

}  // namespace

bool ask_for_groups(llvm::Function& function) {
  if (!function.hasFnAttribute(llvm::Attribute::SanitizeThread)) return false;
  llvm::Module& module = *function.getParent();
  const std::vector<Group> groups = GroupFinder(module.getDataLayout()).find(function);
  if (groups.empty()) return false;
  Asker asker(module);
  for (const Group& group : groups) asker.ask(group);
  return true;
}

}  // namespace tomos::instrument
