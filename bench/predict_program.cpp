#include "predict_program.h"

namespace tomos::bench {
namespace {

constexpr std::uint32_t kNotAtomic = 2;  // of the methods that are repeated

class Author {
 public:
  Method write(LabelId label, bool not_atomic) {
    line_ = 0;
    Method method{.label = label,
                  .before = {},
                  .lock = not_atomic ? 0 : random_.below(PredictProgram::kOuter),
                  .inside = {}};
    if (not_atomic) method.before.push_back({line(Op::kRead, PredictProgram::kBest)});
    for (std::uint32_t i = 2 + random_.below(4); i > 0; --i) {
      const std::uint32_t constant = random_.below(PredictProgram::kConstants);
      method.before.push_back({line(Op::kRead, guarded(PredictProgram::kLocks, constant))});
    }
    if (not_atomic) method.inside.push_back({line(Op::kWrite, PredictProgram::kBest)});
    access(method.inside, method.lock, 3 + random_.below(5));
    for (std::uint32_t i = 0; i < PredictProgram::kInner; ++i) {
      if (random_.chance(0.5)) continue;
      const LockId inner = PredictProgram::kOuter + method.lock * PredictProgram::kInner + i;
      Piece piece = {line(Op::kAcquire, inner)};
      for (std::uint32_t n = 1 + random_.below(3); n > 0; --n) piece.push_back(access(inner));
      piece.push_back(line(Op::kRelease, inner));
      method.inside.push_back(piece);
      access(method.inside, method.lock, random_.below(3));
    }
    return method;
  }

 private:
  static VariableId guarded(LockId lock, std::uint32_t i) {
    return lock * PredictProgram::kGuarded + i;
  }
  Line line(Op op, std::uint32_t object) { return {.op = op, .object = object, .number = ++line_}; }
  Line access(LockId lock) {
    const VariableId variable = guarded(lock, random_.below(PredictProgram::kGuarded));
    return line(random_.chance(0.3) ? Op::kWrite : Op::kRead, variable);
  }
  void access(std::vector<Piece>& pieces, LockId lock, std::uint32_t times) {
    for (; times > 0; --times) pieces.push_back({access(lock)});
  }

  Random random_{14};
  std::uint32_t line_ = 0;
};

}  // namespace

PredictProgram::PredictProgram() {
  Author author;
  for (std::uint32_t i = 0; i < kRepeated + kOnce; ++i) {
    methods.push_back(author.write(i + 1, i < kNotAtomic));
  }
}

}  // namespace tomos::bench
