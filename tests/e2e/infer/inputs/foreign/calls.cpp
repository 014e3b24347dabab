#include <sys/mman.h>

void* map(void* at, unsigned long size) { return mmap(at, size, 0, 0, -1, 0); }
void unmap(void* at, unsigned long size) { munmap(at, size); }
int protect(void* at, unsigned long size) { return mprotect(at, size, 0); }
int synchronise(void* at, unsigned long size) { return msync(at, size, 0); }
