// Code and variables of a library that is opened by a running thread.
// LIBRARY: inputs/plugin.cpp
// FINDS: label=plugin_add_if_room variable=plugin_count at=look,add
#include <dlfcn.h>

#include <cstdlib>

#include "threads.h"

static void work() {
  void* library = dlopen("./plugin.so", RTLD_NOW);
  if (library == nullptr) std::abort();
  auto add = reinterpret_cast<void (*)()>(dlsym(library, "plugin_add_if_room"));
  add();
  dlclose(library);
}

int main() {
  // Kept open, so that the variables of both threads are the same ones.
  void* library = dlopen("./plugin.so", RTLD_NOW);
  in_threads({work, work});
  return library == nullptr || dlclose(library) != 0 ? 1 : 0;
}
