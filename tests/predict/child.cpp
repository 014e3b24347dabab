#include "child.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace tomos::predict {

namespace {

// Sanitizers reserve more than any limit.
void limit_memory() {
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
  constexpr rlim_t kMemory = rlim_t{2} << 30U;
  const rlimit limit{.rlim_cur = kMemory, .rlim_max = kMemory};
  setrlimit(RLIMIT_AS, &limit);
#endif
}

}  // namespace

void limit_processor_time(time_t seconds) {
  const itimerval limit{.it_interval = {}, .it_value = {.tv_sec = seconds, .tv_usec = 0}};
  setitimer(ITIMER_PROF, &limit, nullptr);
}

pid_t start_child(const std::function<int()>& job) {
  static_cast<void>(std::fflush(stdout));
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  limit_memory();
  const int status = job();
  static_cast<void>(std::fflush(stdout));
  _exit(status);
}

int run_child(const std::function<int()>& job) {
  const pid_t child = start_child(job);
  int status = 1;
  if (child > 0) waitpid(child, &status, 0);
  return status;
}

}  // namespace tomos::predict
