// Tells the runtime of a loop's accesses all at once, before the loop, instead of one by one.
//
// It is done for innermost loops that call nothing, whose number of rounds is known when they
// begin, and whose accesses go through memory with a fixed stride. Such a loop is doubled. One
// version is told in advance (__tomos_stream) and left alone by the thread sanitizer; the other is
// instrumented as usual. The runtime says which one runs: to analyses that ask in what order things
// happened, an access must not be told before its time.
//
// It runs just before the thread sanitizer's pass, when loops have taken their final shape.
#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include <optional>
#include <vector>

#include "accesses.h"
#include "passes.h"
#include "runtime/abi.h"

namespace tomos::instrument {
namespace {

using runtime::kMaxStreams;

constexpr unsigned kFewRounds = 4;  // not worth the calls

// What one instruction accesses, round by round; or several that lie side by side.
struct Stream {
  llvm::Instruction* first;  // whose place in the program it is
  const llvm::SCEV* start;
  const llvm::SCEV* step;
  unsigned element;  // bytes
  unsigned width;    // bytes a round
  bool write;
  bool pointers;              // what it stores may be pointers
  unsigned pieces = 1;        // of this width a round,
  std::int64_t distance = 0;  // so far apart
};

class LoopTeller {
 public:
  LoopTeller(llvm::Function& function, llvm::FunctionAnalysisManager& analyses)
      : module_(*function.getParent()),
        layout_(module_.getDataLayout()),
        loops_(analyses.getResult<llvm::LoopAnalysis>(function)),
        dominators_(analyses.getResult<llvm::DominatorTreeAnalysis>(function)),
        evolution_(analyses.getResult<llvm::ScalarEvolutionAnalysis>(function)) {}

  bool run() {
    std::vector<llvm::Loop*> innermost;
    for (llvm::Loop* loop : loops_.getLoopsInPreorder()) {
      if (loop->isInnermost()) innermost.push_back(loop);
    }
    bool changed = false;
    for (llvm::Loop* loop : innermost) changed |= tell(*loop);
    return changed;
  }

 private:
  bool tell(llvm::Loop& loop) {
    llvm::simplifyLoop(&loop, &dominators_, &loops_, &evolution_, nullptr, nullptr,
                       /*PreserveLCSSA=*/false);
    if (!has_simple_shape(loop)) return false;
    const llvm::SCEV* again = evolution_.getBackedgeTakenCount(&loop);
    if (llvm::isa<llvm::SCEVCouldNotCompute>(again)) return false;
    const unsigned most = evolution_.getSmallConstantMaxTripCount(&loop);
    if (most != 0 && most < kFewRounds) return false;
    llvm::SCEVExpander expander(evolution_, layout_, "tomos");
    llvm::Instruction* before = loop.getLoopPreheader()->getTerminator();
    if (!expander.isSafeToExpandAt(again, before)) return false;

    std::vector<llvm::Instruction*> accesses;
    std::vector<Stream> streams;
    if (!collect(loop, accesses, streams)) return false;
    for (const Stream& stream : streams) {
      if (!expander.isSafeToExpandAt(stream.start, before) ||
          !expander.isSafeToExpandAt(stream.step, before)) {
        return false;
      }
    }

    double_loop(loop);
    before = loop.getLoopPreheader()->getTerminator();
    llvm::IRBuilder<> builder(before);
    llvm::Type* word = builder.getInt64Ty();
    llvm::Type* pointer = builder.getPtrTy();
    // Of the rounds' number the type may be too small to hold one more.
    const llvm::SCEV* rounds = evolution_.getAddExpr(
        evolution_.getTruncateOrZeroExtend(again, word), evolution_.getOne(word));
    llvm::Value* count = expander.expandCodeFor(rounds, word, before);
    const llvm::FunctionCallee tell_stream =
        module_.getOrInsertFunction("__tomos_stream", attributes(), builder.getVoidTy(), pointer,
                                    word, word, builder.getInt32Ty());
    for (const Stream& stream : streams) {
      llvm::Value* start = expander.expandCodeFor(stream.start, pointer, before);
      llvm::Value* step = expander.expandCodeFor(stream.step, word, before);
      builder.SetInsertPoint(before);
      builder.SetCurrentDebugLocation(stream.first->getDebugLoc());
      if (stream.pieces > 1) step = builder.getInt64(static_cast<std::uint64_t>(stream.distance));
      const std::uint32_t what = stream.element | stream.pieces << runtime::kStreamPiecesShift |
                                 stream.width << runtime::kStreamWidthShift |
                                 (stream.write ? runtime::kStreamWrites : 0) |
                                 (stream.pointers ? runtime::kStreamPointers : 0) |
                                 (&stream == &streams.front() ? runtime::kStreamFirst : 0) |
                                 (&stream == &streams.back() ? runtime::kStreamLast : 0);
      builder.CreateCall(tell_stream, {start, step, count, builder.getInt32(what)});
    }
    for (llvm::Instruction* access : accesses)
      access->setMetadata(llvm::LLVMContext::MD_nosanitize,
                          llvm::MDNode::get(module_.getContext(), {}));
    evolution_.forgetLoop(&loop);
    return true;
  }

  static bool has_simple_shape(const llvm::Loop& loop) {
    return loop.isLoopSimplifyForm() && loop.getExitBlock() != nullptr &&
           loop.getExitingBlock() != nullptr && loop.getExitingBlock() == loop.getLoopLatch();
  }

  // The accesses that need not be told in the loop, and the streams that tell of them. False: the
  // loop has to be left as it is, or there is nothing to gain.
  bool collect(llvm::Loop& loop, std::vector<llvm::Instruction*>& accesses,
               std::vector<Stream>& streams) {
    bool writes = false;
    bool left = false;  // accesses that must be told in the loop
    for (llvm::BasicBlock* block : loop.blocks()) {
      for (llvm::Instruction& instruction : *block) {
        if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
          if (!is_harmless(*call)) return false;
          continue;
        }
        if (!instruction.mayReadOrWriteMemory()) continue;
        const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
        const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
        if ((load == nullptr || !load->isSimple()) && (store == nullptr || !store->isSimple())) {
          return false;
        }
        if (!is_told(instruction)) continue;
        writes |= store != nullptr;
        const std::optional<Stream> stream = stream_of(loop, instruction);
        if (!stream) {
          left = true;
          continue;
        }
        accesses.push_back(&instruction);
        if (!joins(*stream, streams)) streams.push_back(*stream);
      }
    }
    // Reads among each other may change places; a write and another access may not.
    if (streams.empty() || streams.size() > kMaxStreams || (writes && left)) return false;
    unsigned pointers = 0;
    for (const Stream& stream : streams) {
      if (!is_even(stream)) return false;
      pointers += stream.pointers ? 1 : 0;
    }
    return pointers <= 1;  // the runtime looks at one range afterwards
  }

  std::optional<Stream> stream_of(llvm::Loop& loop, llvm::Instruction& access) {
    if (!dominators_.dominates(access.getParent(), loop.getLoopLatch())) return std::nullopt;
    if (is_vtable_access(access)) return std::nullopt;
    llvm::Type* type = llvm::getLoadStoreType(&access);
    llvm::Type* scalar = type->getScalarType();
    const llvm::TypeSize bytes = layout_.getTypeStoreSize(type);
    const std::uint64_t element = layout_.getTypeStoreSize(scalar).getFixedValue();
    if (bytes.isScalable() || bytes.getFixedValue() > runtime::kMaxStreamWidth ||
        bytes.getFixedValue() % element != 0 ||
        (element != 1 && element != 2 && element != 4 && element != 8)) {
      return std::nullopt;
    }
    llvm::Value* address = llvm::getLoadStorePointerOperand(&access);
    Stream stream{.first = &access,
                  .start = evolution_.getSCEV(address),
                  .step = evolution_.getZero(llvm::Type::getInt64Ty(access.getContext())),
                  .element = static_cast<unsigned>(element),
                  .width = static_cast<unsigned>(bytes.getFixedValue()),
                  .write = llvm::isa<llvm::StoreInst>(access)};
    stream.pointers = stream.write && may_hold_pointer(*scalar, element);
    if (evolution_.isLoopInvariant(stream.start, &loop)) return stream;
    const auto* through = llvm::dyn_cast<llvm::SCEVAddRecExpr>(stream.start);
    if (through == nullptr || through->getLoop() != &loop || !through->isAffine()) {
      return std::nullopt;
    }
    stream.start = through->getStart();
    stream.step = through->getStepRecurrence(evolution_);
    return stream;
  }

  // Vectorised and unrolled loops have several accesses that were one in the source: side by side,
  // or equally far apart. Reads may be put together if nothing is written in between, writes if
  // nothing else is done in between: no two accesses to one variable change places.
  bool joins(const Stream& next, std::vector<Stream>& streams) {
    for (Stream& stream : llvm::reverse(streams)) {
      if (stream.write != next.write) return false;
      if (stream.step != next.step || stream.element != next.element ||
          stream.first->getDebugLoc() != next.first->getDebugLoc()) {
        continue;
      }
      const auto* between =
          llvm::dyn_cast<llvm::SCEVConstant>(evolution_.getMinusSCEV(next.start, stream.start));
      if (between == nullptr) continue;
      const std::int64_t distance = between->getAPInt().getSExtValue();
      if (stream.pieces == 1 && distance == stream.width &&
          stream.width + next.width <= runtime::kMaxStreamWidth) {
        stream.width += next.width;
        return true;
      }
      if (stream.width == next.width && distance > stream.width &&
          stream.pieces < runtime::kMaxStreamPieces &&
          (stream.pieces == 1 || distance == stream.distance * stream.pieces)) {
        if (stream.pieces == 1) stream.distance = distance;
        ++stream.pieces;
        return true;
      }
    }
    return false;
  }

  // A stream is told as one if its pieces are equally far apart all the way.
  static bool is_even(const Stream& stream) {
    if (stream.pieces == 1) return true;
    const auto* step = llvm::dyn_cast<llvm::SCEVConstant>(stream.step);
    return step != nullptr && step->getAPInt().getSExtValue() == stream.distance * stream.pieces;
  }

  // Afterwards `loop` runs if the runtime wants it so, and otherwise a copy of it.
  void double_loop(llvm::Loop& loop) {
    llvm::formLCSSA(loop, dominators_, &loops_, &evolution_);
    llvm::BasicBlock* exit = loop.getExitBlock();
    llvm::BasicBlock* latch = loop.getLoopLatch();
    llvm::BasicBlock* choice = loop.getLoopPreheader();
    llvm::BasicBlock* entry =
        llvm::SplitBlock(choice, choice->getTerminator(), &dominators_, &loops_);
    llvm::ValueToValueMapTy copies;
    llvm::SmallVector<llvm::BasicBlock*, 8> blocks;
    llvm::Loop* copy = llvm::cloneLoopWithPreheader(entry, choice, &loop, copies, ".told", &loops_,
                                                    &dominators_, blocks);
    llvm::remapInstructionsInBlocks(blocks, copies);
    for (llvm::PHINode& phi : exit->phis()) {
      llvm::Value* value = phi.getIncomingValueForBlock(latch);
      const auto found = copies.find(value);
      phi.addIncoming(found == copies.end() ? value : static_cast<llvm::Value*>(found->second),
                      copy->getLoopLatch());
    }
    llvm::Instruction* jump = choice->getTerminator();
    llvm::IRBuilder<> builder(jump);
    auto* wanted = llvm::cast<llvm::GlobalVariable>(
        module_.getOrInsertGlobal("__tomos_streams_wanted", builder.getInt8Ty()));
    llvm::LoadInst* load = builder.CreateLoad(builder.getInt8Ty(), wanted);
    load->setMetadata(llvm::LLVMContext::MD_nosanitize,
                      llvm::MDNode::get(module_.getContext(), {}));
    builder.CreateCondBr(builder.CreateIsNotNull(load), entry, copy->getLoopPreheader());
    jump->eraseFromParent();
    dominators_.changeImmediateDominator(exit, choice);
  }

  llvm::AttributeList attributes() const {
    return llvm::AttributeList::get(module_.getContext(), llvm::AttributeList::FunctionIndex,
                                    {llvm::Attribute::NoUnwind, llvm::Attribute::NonLazyBind});
  }

  llvm::Module& module_;
  const llvm::DataLayout& layout_;
  llvm::LoopInfo& loops_;
  llvm::DominatorTree& dominators_;
  llvm::ScalarEvolution& evolution_;
};

}  // namespace

bool tell_loops(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  if (!function.hasFnAttribute(llvm::Attribute::SanitizeThread)) return false;
  return LoopTeller(function, analyses).run();
}

}  // namespace tomos::instrument
