// Makes std::barrier, std::latch and std::counting_semaphore visible. In libstdc++ they are nothing
// but atomics in headers, so no interposed function sees them, and their insides would look like
// shared variables of the user's.
//
// Two steps. The insides of these classes are kept out of the thread sanitizer's hands. And around
// each call of one of their operations from the user's code the runtime is told what it means. At
// the call and not in the operation, because there the place in the program is the user's. Only who
// was the last to arrive at a barrier is told from inside: nobody else knows.
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <array>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "passes.h"

namespace tomos::instrument {
namespace {

// The next identifier of a mangled name ("5latch" is "latch"), taken off its front.
llvm::StringRef take_identifier(llvm::StringRef& name) {
  std::size_t length = 0;
  if (name.consumeInteger(10, length) || length > name.size()) return {};
  const llvm::StringRef identifier = name.take_front(length);
  name = name.drop_front(length);
  return identifier;
}

// What follows "std::" in a mangled name of a function in namespace std, or of a lambda in one.
bool consume_std(llvm::StringRef& name) {
  if (!name.consume_front("_Z")) return false;
  name = name.ltrim("ZNK");
  return name.consume_front("St");
}

bool is_inside(llvm::StringRef name) {
  if (!consume_std(name)) return false;
  const llvm::StringRef outer = take_identifier(name);
  if (outer == "__detail") {
    constexpr std::array<llvm::StringRef, 6> kWaiting = {"__waiter",        "__platform_",
                                                         "__atomic_spin",   "__thread_",
                                                         "__default_spin_", "__timed_waiter"};
    const llvm::StringRef inner = take_identifier(name);
    return llvm::any_of(kWaiting, [&](llvm::StringRef one) { return inner.starts_with(one); });
  }
  // The phase of a barrier, by which its threads wait for each other.
  if (outer == "__atomic_ref") return name.contains("__barrier_phase_t");
  return outer == "barrier" || outer == "__tree_barrier" || outer == "latch" ||
         outer == "counting_semaphore" || outer == "__atomic_semaphore" ||
         outer.starts_with("__atomic_wait_address") || outer.starts_with("__atomic_notify_address");
}

enum class Before { kNothing, kArrive, kArriveForSeveral, kSignal, kRelease, kAsk };
enum class After {
  kNothing,
  kArrived,
  kLeave,
  kWaitOver,
  kWaitOverIfTrue,
  kAcquired,
  kAcquiredIfTrue
};
struct Meaning {
  Before before = Before::kNothing;
  After after = After::kNothing;
};

// The last part of a function's name, without template arguments: "try_acquire_for".
std::string base_name(const std::string& mangled) {
  llvm::ItaniumPartialDemangler demangler;
  if (demangler.partialDemangle(mangled.c_str())) return {};
  std::size_t size = 0;
  char* text = demangler.getFunctionBaseName(nullptr, &size);
  std::string name = text != nullptr ? text : "";
  std::free(text);
  return name;
}

Meaning meaning_of(llvm::StringRef name) {
  const std::string mangled = name.str();
  if (name.starts_with("_ZZ") || !consume_std(name)) return {};
  const llvm::StringRef outer = take_identifier(name);
  if (outer != "barrier" && outer != "latch" && outer != "counting_semaphore") return {};
  const std::string method = base_name(mangled);
  if (outer == "barrier") {
    return llvm::StringSwitch<Meaning>(method)
        .Case("arrive", {Before::kArriveForSeveral, After::kNothing})
        .Case("wait", {Before::kNothing, After::kLeave})
        .Case("arrive_and_wait", {Before::kArrive, After::kLeave})
        .Case("arrive_and_drop", {Before::kArrive, After::kNothing})
        .Default({});
  }
  if (outer == "latch") {
    return llvm::StringSwitch<Meaning>(method)
        .Case("count_down", {Before::kSignal, After::kNothing})
        .Case("wait", {Before::kNothing, After::kWaitOver})
        .Case("try_wait", {Before::kAsk, After::kWaitOverIfTrue})
        .Case("arrive_and_wait", {Before::kSignal, After::kWaitOver})
        .Default({});
  }
  return llvm::StringSwitch<Meaning>(method)
      .Case("release", {Before::kRelease, After::kNothing})
      .Case("acquire", {Before::kAsk, After::kAcquired})
      .Cases("try_acquire", "try_acquire_for", "try_acquire_until",
             {Before::kAsk, After::kAcquiredIfTrue})
      .Default({});
}

// The step of a barrier's arrival that says whether it was the last: who was runs the completion
// function before anybody leaves.
bool is_arrival_inside(llvm::StringRef name) {
  const std::string mangled = name.str();
  return consume_std(name) && take_identifier(name) == "__tree_barrier" &&
         base_name(mangled) == "_M_arrive";
}

class Teller {
 public:
  explicit Teller(llvm::Module& module) : module_(module) {}

  void tell(llvm::CallBase& call, Meaning meaning) {
    const unsigned first = call.hasStructRetAttr() ? 1 : 0;
    if (call.arg_size() <= first) return;
    llvm::Value* object = call.getArgOperand(first);
    llvm::IRBuilder<> builder(&call);
    switch (meaning.before) {
      case Before::kNothing:
        break;
      case Before::kSignal:
        emit(builder, "__tomos_std_signal", {object});
        break;
      case Before::kAsk:
        emit(builder, "__tomos_std_ask", {object});
        break;
      case Before::kRelease:
        emit(builder, "__tomos_semaphore_release",
             {object, call.getArgOperand(call.arg_size() - 1)});
        break;
      case Before::kArrive:
        emit(builder, "__tomos_std_barrier_arrive",
             {object, first_member(builder, object, builder.getInt64Ty())});
        break;
      case Before::kArriveForSeveral: {
        llvm::Value* arrivals = call.getArgOperand(call.arg_size() - 1);
        llvm::Value* one = llvm::ConstantInt::get(arrivals->getType(), 1);
        llvm::Value* expected = first_member(builder, object, builder.getInt64Ty());
        llvm::Value* count = builder.CreateSelect(builder.CreateICmpEQ(arrivals, one), expected,
                                                  builder.getInt64(0));
        emit(builder, "__tomos_std_barrier_arrive", {object, count});
        break;
      }
    }
    if (meaning.after == After::kNothing) return;
    set_after(builder, call);
    switch (meaning.after) {
      case After::kNothing:
        break;
      case After::kArrived:
        emit(builder, "__tomos_std_barrier_arrived", {object, &call});
        break;
      case After::kLeave:
        emit(builder, "__tomos_std_barrier_leave", {object});
        break;
      case After::kWaitOver:
        emit(builder, "__tomos_std_wait_over", {object, builder.getTrue()});
        break;
      case After::kWaitOverIfTrue:
        emit(builder, "__tomos_std_wait_over", {object, &call});
        break;
      case After::kAcquired:
        emit(builder, "__tomos_semaphore_acquired",
             {object, builder.getTrue(), first_member(builder, object, builder.getInt32Ty())});
        break;
      case After::kAcquiredIfTrue:
        emit(builder, "__tomos_semaphore_acquired",
             {object, &call, first_member(builder, object, builder.getInt32Ty())});
        break;
    }
  }

 private:
  // In libstdc++ that is of a std::barrier how many arrivals a phase waits for, and of a
  // std::counting_semaphore its count. Marked as our own load, not the user's.
  static llvm::Value* first_member(llvm::IRBuilder<>& builder, llvm::Value* object,
                                   llvm::Type* type) {
    llvm::LoadInst* load = builder.CreateLoad(type, object);
    load->setVolatile(true);
    load->setNoSanitizeMetadata();
    return load;
  }

  static void set_after(llvm::IRBuilder<>& builder, llvm::CallBase& call) {
    const llvm::DebugLoc place = call.getDebugLoc();
    if (auto* invoke = llvm::dyn_cast<llvm::InvokeInst>(&call)) {
      llvm::BasicBlock* edge = llvm::SplitEdge(invoke->getParent(), invoke->getNormalDest());
      builder.SetInsertPoint(edge, edge->getFirstInsertionPt());
    } else {
      builder.SetInsertPoint(call.getNextNode());
    }
    builder.SetCurrentDebugLocation(place);
  }

  void emit(llvm::IRBuilder<>& builder, llvm::StringRef function,
            llvm::ArrayRef<llvm::Value*> arguments) {
    llvm::SmallVector<llvm::Type*, 3> types;
    for (const llvm::Value* argument : arguments) types.push_back(argument->getType());
    llvm::LLVMContext& context = module_.getContext();
    llvm::AttributeList attributes = llvm::AttributeList::get(
        context, llvm::AttributeList::FunctionIndex, {llvm::Attribute::NoUnwind});
    if (types.size() > 1 && types[1]->isIntegerTy(1)) {
      attributes = attributes.addParamAttribute(context, 1, llvm::Attribute::ZExt);
    }
    auto* type = llvm::FunctionType::get(builder.getVoidTy(), types, /*isVarArg=*/false);
    llvm::CallInst* call =
        builder.CreateCall(module_.getOrInsertFunction(function, type, attributes), arguments);
    call->setAttributes(attributes);
  }

  llvm::Module& module_;
};

}  // namespace

bool mark_std_synchronisation(llvm::Module& module) {
  bool changed = false;
  for (llvm::Function& function : module) {
    if (!is_inside(function.getName())) continue;
    changed = true;
    // Without the sanitizer's attribute it is not inlined where there is one, unless forced to.
    function.removeFnAttr(llvm::Attribute::SanitizeThread);
    function.removeFnAttr(llvm::Attribute::AlwaysInline);
    function.addFnAttr(llvm::Attribute::DisableSanitizerInstrumentation);
  }
  if (!changed) return false;

  std::vector<std::pair<llvm::CallBase*, Meaning>> calls;
  for (llvm::Function& function : module) {
    const bool users = function.hasFnAttribute(llvm::Attribute::SanitizeThread);
    if (!users && !is_inside(function.getName())) continue;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call == nullptr || call->getCalledFunction() == nullptr) continue;
      const llvm::StringRef called = call->getCalledFunction()->getName();
      const Meaning meaning = users                       ? meaning_of(called)
                              : is_arrival_inside(called) ? Meaning{.after = After::kArrived}
                                                          : Meaning{};
      if (meaning.before != Before::kNothing || meaning.after != After::kNothing) {
        calls.emplace_back(call, meaning);
      }
    }
  }
  Teller teller(module);
  for (const auto& [call, meaning] : calls) teller.tell(*call, meaning);
  return true;
}

}  // namespace tomos::instrument
