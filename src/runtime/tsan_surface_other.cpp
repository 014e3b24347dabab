// The rest of what a program that knows ThreadSanitizer may call: annotations that say nothing to
// us, and the sanitizers' common interface. They are here so that such programs link and run; a
// question about reports or about the heap gets the answer that there is none.
#include <malloc.h>
#include <stdint.h>

#include "runtime/interpose.h"

using namespace tomos::runtime;

using File = const char*;
using Place = const volatile void*;
using Text = const char*;

// --- Annotations about races are not about atomicity.

TOMOS_EXPORT void AnnotateBenignRace(File, int, Place, Text) {}
TOMOS_EXPORT void AnnotateBenignRaceSized(File, int, Place, std::size_t, Text) {}
TOMOS_EXPORT void WTFAnnotateBenignRaceSized(File, int, Place, std::size_t, Text) {}
TOMOS_EXPORT void AnnotateExpectRace(File, int, Place, Text) {}
TOMOS_EXPORT void AnnotateFlushExpectedRaces(File, int) {}
TOMOS_EXPORT void AnnotateEnableRaceDetection(File, int, int) {}
TOMOS_EXPORT void AnnotateIgnoreSyncBegin(File, int) {}
TOMOS_EXPORT void AnnotateIgnoreSyncEnd(File, int) {}
TOMOS_EXPORT void AnnotateFlushState(File, int) {}
TOMOS_EXPORT void AnnotateMutexIsNotPHB(File, int, Place) {}
TOMOS_EXPORT void AnnotateMutexIsUsedAsCondVar(File, int, Place) {}
TOMOS_EXPORT void AnnotateNewMemory(File, int, Place, std::size_t) {}
TOMOS_EXPORT void AnnotateNoOp(File, int, Place) {}
TOMOS_EXPORT void AnnotatePCQCreate(File, int, Place) {}
TOMOS_EXPORT void AnnotatePCQDestroy(File, int, Place) {}
TOMOS_EXPORT void AnnotatePCQGet(File, int, Place) {}
TOMOS_EXPORT void AnnotatePCQPut(File, int, Place) {}
TOMOS_EXPORT void AnnotatePublishMemoryRange(File, int, Place, std::size_t) {}
TOMOS_EXPORT void AnnotateUnpublishMemoryRange(File, int, Place, std::size_t) {}
TOMOS_EXPORT void AnnotateMemoryIsInitialized(File, int, Place, std::size_t) {}
TOMOS_EXPORT void AnnotateMemoryIsUninitialized(File, int, Place, std::size_t) {}
TOMOS_EXPORT void AnnotateTraceMemory(File, int, Place) {}

TOMOS_EXPORT int RunningOnValgrind() { return 0; }
TOMOS_EXPORT double ValgrindSlowdown() { return 1; }
TOMOS_EXPORT const char* ThreadSanitizerQuery(Text) { return "0"; }

// --- Accesses that a program tells itself, with the place they are to be told for.

#define TOMOS_ACCESS_FOR(size)                                       \
  TOMOS_EXPORT void __tsan_read##size##_pc(void* place, void* pc) {  \
    read_range(place, size, reinterpret_cast<Address>(pc));          \
  }                                                                  \
  TOMOS_EXPORT void __tsan_write##size##_pc(void* place, void* pc) { \
    write_range(place, size, reinterpret_cast<Address>(pc));         \
  }
TOMOS_ACCESS_FOR(1)
TOMOS_ACCESS_FOR(2)
TOMOS_ACCESS_FOR(4)
TOMOS_ACCESS_FOR(8)
TOMOS_ACCESS_FOR(16)
TOMOS_EXPORT void __tsan_read_range_pc(void* place, unsigned long size, void* pc) {
  read_range(place, size, reinterpret_cast<Address>(pc));
}
TOMOS_EXPORT void __tsan_write_range_pc(void* place, unsigned long size, void* pc) {
  write_range(place, size, reinterpret_cast<Address>(pc));
}

// --- ThreadSanitizer's reports, of which there are none.

TOMOS_EXPORT void __tsan_flush_memory() {}
TOMOS_EXPORT void* __tsan_get_current_report() { return nullptr; }

// --- The common interface.

TOMOS_EXPORT void __sanitizer_set_report_path(Text) {}
TOMOS_EXPORT const char* __sanitizer_get_report_path() { return ""; }
TOMOS_EXPORT void __sanitizer_set_report_fd(void*) {}
TOMOS_EXPORT void __sanitizer_report_error_summary(Text) {}
TOMOS_EXPORT void __sanitizer_sandbox_on_notify(void*) {}
TOMOS_EXPORT void __sanitizer_set_death_callback(void (*)()) {}
TOMOS_EXPORT void __sanitizer_print_stack_trace() {}
TOMOS_EXPORT void __sanitizer_print_memory_profile(std::size_t, std::size_t) {}
TOMOS_EXPORT int __sanitizer_acquire_crash_state() { return 1; }
TOMOS_EXPORT void __sanitizer_symbolize_pc(void*, Text, char* out, std::size_t size) {
  if (size > 0) *out = 0;
}
TOMOS_EXPORT void __sanitizer_symbolize_global(void*, Text, char* out, std::size_t size) {
  if (size > 0) *out = 0;
}
TOMOS_EXPORT int __sanitizer_get_module_and_offset_for_pc(void*, char*, std::size_t, void**) {
  return 0;
}
TOMOS_EXPORT void __sanitizer_annotate_contiguous_container(Place, Place, Place, Place) {}
TOMOS_EXPORT int __sanitizer_verify_contiguous_container(Place, Place, Place) { return 1; }
TOMOS_EXPORT void __sanitizer_start_switch_fiber(void**, Place, std::size_t) {}
TOMOS_EXPORT void __sanitizer_finish_switch_fiber(void*, const void**, std::size_t*) {}

TOMOS_EXPORT int __sanitizer_install_malloc_and_free_hooks(void (*)(Place, std::size_t),
                                                           void (*)(Place)) {
  return 0;
}
TOMOS_EXPORT std::size_t __sanitizer_get_current_allocated_bytes() { return 0; }
TOMOS_EXPORT std::size_t __sanitizer_get_heap_size() { return 0; }
TOMOS_EXPORT std::size_t __sanitizer_get_free_bytes() { return 0; }
TOMOS_EXPORT std::size_t __sanitizer_get_unmapped_bytes() { return 0; }
TOMOS_EXPORT std::size_t __sanitizer_get_estimated_allocated_size(std::size_t size) { return size; }
TOMOS_EXPORT int __sanitizer_get_ownership(Place) { return 0; }
TOMOS_EXPORT std::size_t __sanitizer_get_allocated_size(Place object) {
  return malloc_usable_size(const_cast<void*>(object));
}
TOMOS_EXPORT void __sanitizer_purge_allocator() {}

// Accesses of the program's, wherever they are aligned.
#define TOMOS_UNALIGNED(bits, Value)                                              \
  TOMOS_EXPORT Value __sanitizer_unaligned_load##bits(const void* place) {        \
    Value value = 0;                                                              \
    read_range(place, sizeof value, TOMOS_CALLER());                              \
    __builtin_memcpy(&value, place, sizeof value);                                \
    return value;                                                                 \
  }                                                                               \
  TOMOS_EXPORT void __sanitizer_unaligned_store##bits(void* place, Value value) { \
    write_range(place, sizeof value, TOMOS_CALLER());                             \
    __builtin_memcpy(place, &value, sizeof value);                                \
  }
TOMOS_UNALIGNED(16, uint16_t)
TOMOS_UNALIGNED(32, uint32_t)
TOMOS_UNALIGNED(64, uint64_t)
