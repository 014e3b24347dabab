// Input and output as accesses of their buffers. What goes out is told before, for whoever gets it
// may change the buffer at once; what came in is told after, as much as came.
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include "runtime/interpose.h"

using namespace tomos::runtime;

namespace {

ssize_t told_input(ssize_t count, const void* buffer, Address pc) {
  if (count > 0) Teller(pc).writes(buffer, static_cast<std::size_t>(count));
  return count;
}

void tell_output(const void* buffer, std::size_t size, Address pc) {
  Teller(pc).reads(buffer, size);
}

}  // namespace

TOMOS_INTERPOSE(ssize_t, read, int file, void* buffer, std::size_t size) {
  return told_input(REAL(read)(file, buffer, size), buffer, TOMOS_CALLER());
}
TOMOS_INTERPOSE(ssize_t, pread, int file, void* buffer, std::size_t size, off_t offset) {
  return told_input(REAL(pread)(file, buffer, size, offset), buffer, TOMOS_CALLER());
}
TOMOS_INTERPOSE(ssize_t, pread64, int file, void* buffer, std::size_t size, off64_t offset) {
  return told_input(REAL(pread64)(file, buffer, size, offset), buffer, TOMOS_CALLER());
}
TOMOS_INTERPOSE(ssize_t, recv, int socket, void* buffer, std::size_t size, int flags) {
  return told_input(REAL(recv)(socket, buffer, size, flags), buffer, TOMOS_CALLER());
}
TOMOS_INTERPOSE(ssize_t, recvfrom, int socket, void* buffer, std::size_t size, int flags,
                sockaddr* from, socklen_t* from_size) {
  return told_input(REAL(recvfrom)(socket, buffer, size, flags, from, from_size), buffer,
                    TOMOS_CALLER());
}
TOMOS_INTERPOSE(std::size_t, fread, void* buffer, std::size_t size, std::size_t count,
                FILE* stream) {
  const std::size_t read = REAL(fread)(buffer, size, count, stream);
  Teller(TOMOS_CALLER()).writes(buffer, read * size);
  return read;
}

TOMOS_INTERPOSE(ssize_t, write, int file, const void* buffer, std::size_t size) {
  tell_output(buffer, size, TOMOS_CALLER());
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
  return REAL(send)(socket, buffer, size, flags);
}
TOMOS_INTERPOSE(ssize_t, sendto, int socket, const void* buffer, std::size_t size, int flags,
                const sockaddr* to, socklen_t to_size) {
  tell_output(buffer, size, TOMOS_CALLER());
  return REAL(sendto)(socket, buffer, size, flags, to, to_size);
}
TOMOS_INTERPOSE(std::size_t, fwrite, const void* buffer, std::size_t size, std::size_t count,
                FILE* stream) {
  tell_output(buffer, size * count, TOMOS_CALLER());
  return REAL(fwrite)(buffer, size, count, stream);
}

// What _FORTIFY_SOURCE makes of the reading ones.
TOMOS_INTERPOSE(ssize_t, __read_chk, int file, void* buffer, std::size_t size, std::size_t room) {
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
  return told_input(REAL(__recv_chk)(socket, buffer, size, room, flags), buffer, TOMOS_CALLER());
}
TOMOS_INTERPOSE(std::size_t, __fread_chk, void* buffer, std::size_t room, std::size_t size,
                std::size_t count, FILE* stream) {
  const std::size_t read = REAL(__fread_chk)(buffer, room, size, count, stream);
  Teller(TOMOS_CALLER()).writes(buffer, read * size);
  return read;
}
