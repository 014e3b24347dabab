// Waits for files, sockets and the like: a thread goes on when the kernel says that it would not
// block. For pipes between threads of the process that is as repeatable as all the rest.
#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/select.h>

#include <cstdint>

#include "schedule/control.h"

namespace tomos::schedule {

// Until the file can be read (POLLIN) or written (POLLOUT) without blocking, or the time that is
// set for the socket is over.
Outcome await_file(int file, short events, Address pc);
// The same for poll, select and epoll_wait, until the deadline at most. False: a signal came.
bool await_poll(pollfd* files, std::uint64_t count, std::uint64_t deadline, Address pc);
bool await_select(int count, const fd_set* in, const fd_set* out, const fd_set* other,
                  std::uint64_t deadline, Address pc);
// This process is about to connect, perhaps to itself; it has accepted a connection. Those that it
// has not made are from outside, and what comes from there comes when it likes.
void connecting();
void accepted();
// Until one of these signals is pending. The thread has blocked them.
Outcome await_signal(const sigset_t& signals, std::uint64_t deadline, Address pc);
// Somebody sends a signal to this thread alone.
void signal_sent(std::uint64_t handle);

}  // namespace tomos::schedule
