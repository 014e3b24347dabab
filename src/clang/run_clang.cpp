#include "clang/run_clang.h"

#include <fmt/format.h>
#include <llvm/Support/CrashRecoveryContext.h>
#include <signal.h>
#include <string.h>

#include <mutex>
#include <new>
#include <vector>

namespace tomos::cpp {

namespace {

// Reserved, not used: only what a walk has touched is taken from the machine.
constexpr unsigned kStack = 256U << 20U;

// A stack that has overflowed is no place to handle that. A sanitizer sees to it by itself.
class SignalStack {
 public:
  SignalStack() {
    stack_t known = {};
    ::sigaltstack(nullptr, &known);
    if ((known.ss_flags & SS_DISABLE) == 0) return;
    memory_.resize(64UL << 10U);
    const stack_t own = {.ss_sp = memory_.data(), .ss_flags = 0, .ss_size = memory_.size()};
    ::sigaltstack(&own, nullptr);
  }
  ~SignalStack() {
    if (memory_.empty()) return;
    const stack_t none = {.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
    ::sigaltstack(&none, nullptr);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  std::vector<char> memory_;
};

void catch_crashes() {
  llvm::CrashRecoveryContext::Enable();
  for (const int number : {SIGSEGV, SIGBUS}) {
    struct sigaction how = {};
    ::sigaction(number, nullptr, &how);
    how.sa_flags |= SA_ONSTACK;
    ::sigaction(number, &how, nullptr);
  }
}

}  // namespace

bool run_clang(clang::tooling::ToolInvocation& invocation, const std::string& file,
               std::string& messages) {
  static std::once_flag once;
  std::call_once(once, catch_crashes);
  bool well = false;
  bool memory = true;
  const auto run = [&] {
    const SignalStack stack;
    try {
      well = invocation.run();
    } catch (const std::bad_alloc&) {
      memory = false;
    }
  };
  llvm::CrashRecoveryContext context;
  if (!context.RunSafelyOnThread(run, kStack)) {
    const char* const signal = ::sigdescr_np(context.RetCode - 128);
    messages += fmt::format(
        "{}: clang crashed: {}\n"
        "  If `clang++-19 -fsyntax-only` reads this file with the same flags, it is a bug in "
        "Tomos; please report it.\n",
        file, signal == nullptr ? "for an unknown reason" : signal);
    return false;
  }
  if (!memory) messages += fmt::format("{}: there is not enough memory to read it\n", file);
  return well;
}

}  // namespace tomos::cpp
