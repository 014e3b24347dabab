// Input and output as accesses of their buffers. What goes out is told before, for whoever gets it
// may change the buffer at once; what came in is told after, as much as came. And waits for the
// world outside, which nobody can mean to be part of something atomic.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/interpose.h"
#include "schedule/clock.h"
#include "schedule/input.h"

using namespace tomos::runtime;
namespace schedule = tomos::schedule;

namespace {

ssize_t told_input(ssize_t count, const void* buffer, Address pc) {
  if (count > 0) Teller(pc).writes(buffer, static_cast<std::size_t>(count));
  return count;
}

// Under control of the scheduler: until the real call would not block. False: it is to end with
// this error.
bool await(int file, short events, Address pc) {
  if (!schedule::controlled()) return true;
  const schedule::Outcome outcome = schedule::await_file(file, events, pc);
  if (outcome == schedule::Outcome::kGo) return true;
  errno = outcome == schedule::Outcome::kTimedOut ? EAGAIN : EINTR;
  return false;
}

bool await(int socket, int flags, short events, Address pc) {
  return (flags & MSG_DONTWAIT) != 0 || await(socket, events, pc);
}

// For a stream nothing is known of once its buffer is used up and the file must be read.
void await(FILE* stream, Address pc) {
  if (!schedule::controlled() || stream->_IO_read_ptr < stream->_IO_read_end) return;
  const int file = fileno(stream);
  if (file >= 0) (void)schedule::await_file(file, POLLIN, pc);
}

void tell_output(const void* buffer, std::size_t size, Address pc) {
  Teller(pc).reads(buffer, size);
}

}  // namespace

TOMOS_INTERPOSE(ssize_t, read, int file, void* buffer, std::size_t size) {
  if (!await(file, POLLIN, TOMOS_CALLER())) return -1;
  return told_input(REAL(read)(file, buffer, size), buffer, TOMOS_CALLER());
}
TOMOS_INTERPOSE(ssize_t, pread, int file, void* buffer, std::size_t size, off_t offset) {
  return told_input(REAL(pread)(file, buffer, size, offset), buffer, TOMOS_CALLER());
}
TOMOS_INTERPOSE(ssize_t, pread64, int file, void* buffer, std::size_t size, off64_t offset) {
  return told_input(REAL(pread64)(file, buffer, size, offset), buffer, TOMOS_CALLER());
}
TOMOS_INTERPOSE(ssize_t, recv, int socket, void* buffer, std::size_t size, int flags) {
  if (!await(socket, flags, POLLIN, TOMOS_CALLER())) return -1;
  return told_input(REAL(recv)(socket, buffer, size, flags), buffer, TOMOS_CALLER());
}
TOMOS_INTERPOSE(ssize_t, recvfrom, int socket, void* buffer, std::size_t size, int flags,
                sockaddr* from, socklen_t* from_size) {
  if (!await(socket, flags, POLLIN, TOMOS_CALLER())) return -1;
  return told_input(REAL(recvfrom)(socket, buffer, size, flags, from, from_size), buffer,
                    TOMOS_CALLER());
}
TOMOS_INTERPOSE(std::size_t, fread, void* buffer, std::size_t size, std::size_t count,
                FILE* stream) {
  await(stream, TOMOS_CALLER());
  const std::size_t read = REAL(fread)(buffer, size, count, stream);
  Teller(TOMOS_CALLER()).writes(buffer, read * size);
  return read;
}

TOMOS_INTERPOSE(ssize_t, write, int file, const void* buffer, std::size_t size) {
  tell_output(buffer, size, TOMOS_CALLER());
  if (!await(file, POLLOUT, TOMOS_CALLER())) return -1;
  return REAL(write)(file, buffer, size);
}
TOMOS_INTERPOSE(ssize_t, pwrite, int file, const void* buffer, std::size_t size, off_t offset) {
  tell_output(buffer, size, TOMOS_CALLER());
  return REAL(pwrite)(file, buffer, size, offset);
}
TOMOS_INTERPOSE(ssize_t, pwrite64, int file, const void* buffer, std::size_t size, off64_t offset) {
  tell_output(buffer, size, TOMOS_CALLER());
  return REAL(pwrite64)(file, buffer, size, offset);
}
TOMOS_INTERPOSE(ssize_t, send, int socket, const void* buffer, std::size_t size, int flags) {
  tell_output(buffer, size, TOMOS_CALLER());
  if (!await(socket, flags, POLLOUT, TOMOS_CALLER())) return -1;
  return REAL(send)(socket, buffer, size, flags);
}
TOMOS_INTERPOSE(ssize_t, sendto, int socket, const void* buffer, std::size_t size, int flags,
                const sockaddr* to, socklen_t to_size) {
  tell_output(buffer, size, TOMOS_CALLER());
  if (!await(socket, flags, POLLOUT, TOMOS_CALLER())) return -1;
  return REAL(sendto)(socket, buffer, size, flags, to, to_size);
}
TOMOS_INTERPOSE(std::size_t, fwrite, const void* buffer, std::size_t size, std::size_t count,
                FILE* stream) {
  tell_output(buffer, size * count, TOMOS_CALLER());
  return REAL(fwrite)(buffer, size, count, stream);
}

// What _FORTIFY_SOURCE makes of the reading ones.
TOMOS_INTERPOSE(ssize_t, __read_chk, int file, void* buffer, std::size_t size, std::size_t room) {
  if (!await(file, POLLIN, TOMOS_CALLER())) return -1;
  return told_input(REAL(__read_chk)(file, buffer, size, room), buffer, TOMOS_CALLER());
}
TOMOS_INTERPOSE(ssize_t, __pread_chk, int file, void* buffer, std::size_t size, off_t offset,
                std::size_t room) {
  return told_input(REAL(__pread_chk)(file, buffer, size, offset, room), buffer, TOMOS_CALLER());
}
TOMOS_INTERPOSE(ssize_t, __pread64_chk, int file, void* buffer, std::size_t size, off64_t offset,
                std::size_t room) {
  return told_input(REAL(__pread64_chk)(file, buffer, size, offset, room), buffer, TOMOS_CALLER());
}
TOMOS_INTERPOSE(ssize_t, __recv_chk, int socket, void* buffer, std::size_t size, std::size_t room,
                int flags) {
  if (!await(socket, flags, POLLIN, TOMOS_CALLER())) return -1;
  return told_input(REAL(__recv_chk)(socket, buffer, size, room, flags), buffer, TOMOS_CALLER());
}
TOMOS_INTERPOSE(ssize_t, __recvfrom_chk, int socket, void* buffer, std::size_t size,
                std::size_t room, int flags, sockaddr* from, socklen_t* from_size) {
  if (!await(socket, flags, POLLIN, TOMOS_CALLER())) return -1;
  return told_input(REAL(__recvfrom_chk)(socket, buffer, size, room, flags, from, from_size),
                    buffer, TOMOS_CALLER());
}
TOMOS_INTERPOSE(std::size_t, __fread_chk, void* buffer, std::size_t room, std::size_t size,
                std::size_t count, FILE* stream) {
  await(stream, TOMOS_CALLER());
  const std::size_t read = REAL(__fread_chk)(buffer, room, size, count, stream);
  Teller(TOMOS_CALLER()).writes(buffer, read * size);
  return read;
}

// --- Others that may block: only the scheduler cares.

TOMOS_INTERPOSE(ssize_t, readv, int file, const iovec* parts, int count) {
  if (!await(file, POLLIN, TOMOS_CALLER())) return -1;
  return REAL(readv)(file, parts, count);
}
TOMOS_INTERPOSE(ssize_t, writev, int file, const iovec* parts, int count) {
  if (!await(file, POLLOUT, TOMOS_CALLER())) return -1;
  return REAL(writev)(file, parts, count);
}
TOMOS_INTERPOSE(ssize_t, recvmsg, int socket, msghdr* message, int flags) {
  if (!await(socket, flags, POLLIN, TOMOS_CALLER())) return -1;
  return REAL(recvmsg)(socket, message, flags);
}
TOMOS_INTERPOSE(ssize_t, sendmsg, int socket, const msghdr* message, int flags) {
  if (!await(socket, flags, POLLOUT, TOMOS_CALLER())) return -1;
  return REAL(sendmsg)(socket, message, flags);
}
TOMOS_INTERPOSE(char*, fgets, char* buffer, int size, FILE* stream) {
  await(stream, TOMOS_CALLER());
  return REAL(fgets)(buffer, size, stream);
}
TOMOS_INTERPOSE(char*, __fgets_chk, char* buffer, std::size_t room, int size, FILE* stream) {
  await(stream, TOMOS_CALLER());
  return REAL(__fgets_chk)(buffer, room, size, stream);
}
TOMOS_INTERPOSE(int, fgetc, FILE* stream) {
  await(stream, TOMOS_CALLER());
  return REAL(fgetc)(stream);
}
TOMOS_INTERPOSE(int, getc, FILE* stream) {
  await(stream, TOMOS_CALLER());
  return REAL(getc)(stream);
}
// stdio.h has an inline function of this name, which calls __getdelim.
TOMOS_REAL(ssize_t, getline, char**, std::size_t*, FILE*);
TOMOS_EXPORT ssize_t interposed_getline(char** line, std::size_t* room,
                                        FILE* stream) asm("getline");
ssize_t interposed_getline(char** line, std::size_t* room, FILE* stream) {
  await(stream, TOMOS_CALLER());
  return REAL(getline)(line, room, stream);
}
TOMOS_INTERPOSE(ssize_t, __getdelim, char** line, std::size_t* room, int end, FILE* stream) {
  await(stream, TOMOS_CALLER());
  return REAL(__getdelim)(line, room, end, stream);
}
TOMOS_INTERPOSE(ssize_t, getdelim, char** line, std::size_t* room, int end, FILE* stream) {
  await(stream, TOMOS_CALLER());
  return REAL(getdelim)(line, room, end, stream);
}

// --- Waits. An event loop is a function like any other, so it would be one transaction from the
// first to the last event. Reads and writes are no waits, though they may block: that is how whole
// messages are handled.

namespace {

void tell_wait(bool can_block, Address pc) {
  if (can_block && Teller(pc)) waiting(pc);
}

bool can_block(const timespec* time) {
  return time == nullptr || time->tv_sec != 0 || time->tv_nsec != 0;
}

// Under control the call itself only looks.
bool await(pollfd* files, nfds_t count, std::uint64_t deadline, Address pc) {
  if (schedule::await_poll(files, count, deadline, pc)) return true;
  errno = EINTR;
  return false;
}

std::uint64_t deadline_after(const timeval* time) {
  if (time == nullptr) return schedule::kNever;
  const timespec precise = {.tv_sec = time->tv_sec, .tv_nsec = time->tv_usec * 1000};
  return schedule::deadline_after(&precise);
}

constexpr timespec kNoTime = {};

bool can_block(int socket) {
  const int flags = fcntl(socket, F_GETFL);
  return flags >= 0 && (flags & O_NONBLOCK) == 0;
}

}  // namespace

TOMOS_INTERPOSE(int, poll, pollfd* files, nfds_t count, int timeout) {
  tell_wait(timeout != 0, TOMOS_CALLER());
  if (schedule::controlled()) {
    if (!await(files, count, schedule::deadline_after_ms(timeout), TOMOS_CALLER())) return -1;
    timeout = 0;
  }
  return REAL(poll)(files, count, timeout);
}
TOMOS_INTERPOSE(int, __poll_chk, pollfd* files, nfds_t count, int timeout, std::size_t room) {
  tell_wait(timeout != 0, TOMOS_CALLER());
  if (schedule::controlled()) {
    if (!await(files, count, schedule::deadline_after_ms(timeout), TOMOS_CALLER())) return -1;
    timeout = 0;
  }
  return REAL(__poll_chk)(files, count, timeout, room);
}
TOMOS_INTERPOSE(int, ppoll, pollfd* files, nfds_t count, const timespec* timeout,
                const sigset_t* signals) {
  tell_wait(can_block(timeout), TOMOS_CALLER());
  if (schedule::controlled()) {
    if (!await(files, count, schedule::deadline_after(timeout), TOMOS_CALLER())) return -1;
    timeout = &kNoTime;
  }
  return REAL(ppoll)(files, count, timeout, signals);
}
TOMOS_INTERPOSE(int, select, int count, fd_set* in, fd_set* out, fd_set* other, timeval* timeout) {
  tell_wait(timeout == nullptr || timeout->tv_sec != 0 || timeout->tv_usec != 0, TOMOS_CALLER());
  timeval none = {};
  if (schedule::controlled()) {
    if (!schedule::await_select(count, in, out, other, deadline_after(timeout), TOMOS_CALLER())) {
      errno = EINTR;
      return -1;
    }
    timeout = &none;
  }
  return REAL(select)(count, in, out, other, timeout);
}
TOMOS_INTERPOSE(int, pselect, int count, fd_set* in, fd_set* out, fd_set* other,
                const timespec* timeout, const sigset_t* signals) {
  tell_wait(can_block(timeout), TOMOS_CALLER());
  if (schedule::controlled()) {
    if (!schedule::await_select(count, in, out, other, schedule::deadline_after(timeout),
                                TOMOS_CALLER())) {
      errno = EINTR;
      return -1;
    }
    timeout = &kNoTime;
  }
  return REAL(pselect)(count, in, out, other, timeout, signals);
}
TOMOS_INTERPOSE(int, epoll_wait, int epoll, epoll_event* events, int room, int timeout) {
  tell_wait(timeout != 0, TOMOS_CALLER());
  if (schedule::controlled()) {
    pollfd one = {.fd = epoll, .events = POLLIN, .revents = 0};
    if (!await(&one, 1, schedule::deadline_after_ms(timeout), TOMOS_CALLER())) return -1;
    timeout = 0;
  }
  return REAL(epoll_wait)(epoll, events, room, timeout);
}
TOMOS_INTERPOSE(int, epoll_pwait, int epoll, epoll_event* events, int room, int timeout,
                const sigset_t* signals) {
  tell_wait(timeout != 0, TOMOS_CALLER());
  if (schedule::controlled()) {
    pollfd one = {.fd = epoll, .events = POLLIN, .revents = 0};
    if (!await(&one, 1, schedule::deadline_after_ms(timeout), TOMOS_CALLER())) return -1;
    timeout = 0;
  }
  return REAL(epoll_pwait)(epoll, events, room, timeout, signals);
}

namespace {

int told_accepted(int connection) {
  if (connection >= 0 && schedule::controlled()) schedule::accepted();
  return connection;
}

}  // namespace

TOMOS_INTERPOSE(int, accept, int socket, sockaddr* from, socklen_t* from_size) {
  tell_wait(can_block(socket), TOMOS_CALLER());
  if (!await(socket, POLLIN, TOMOS_CALLER())) return -1;
  return told_accepted(REAL(accept)(socket, from, from_size));
}
TOMOS_INTERPOSE(int, accept4, int socket, sockaddr* from, socklen_t* from_size, int flags) {
  tell_wait(can_block(socket), TOMOS_CALLER());
  if (!await(socket, POLLIN, TOMOS_CALLER())) return -1;
  return told_accepted(REAL(accept4)(socket, from, from_size, flags));
}
