#include "clang/known_calls.h"

#include <algorithm>
#include <array>

namespace tomos::cpp {

namespace {

template <std::size_t kSize>
constexpr bool has(const std::array<std::string_view, kSize>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

template <std::size_t kSize>
constexpr bool begins(const std::array<std::string_view, kSize>& beginnings,
                      std::string_view name) {
  return std::ranges::any_of(beginnings, [&](auto begin) { return name.starts_with(begin); });
}

constexpr auto kHarmless = std::to_array<std::string_view>({"abort",
                                                            "abs",
                                                            "assert",
                                                            "atof",
                                                            "atoi",
                                                            "atol",
                                                            "bsearch",
                                                            "calloc",
                                                            "ceil",
                                                            "exit",
                                                            "_exit",
                                                            "floor",
                                                            "free",
                                                            "fabs",
                                                            "getenv",
                                                            "gettimeofday",
                                                            "gmtime_r",
                                                            "htonl",
                                                            "htons",
                                                            "isalnum",
                                                            "isalpha",
                                                            "isdigit",
                                                            "islower",
                                                            "isprint",
                                                            "isspace",
                                                            "isupper",
                                                            "isxdigit",
                                                            "ldexp",
                                                            "localtime_r",
                                                            "log",
                                                            "log2",
                                                            "malloc",
                                                            "mktime",
                                                            "ntohl",
                                                            "ntohs",
                                                            "pow",
                                                            "qsort",
                                                            "realloc",
                                                            "snprintf",
                                                            "sprintf",
                                                            "sqrt",
                                                            "sscanf",
                                                            "time",
                                                            "tolower",
                                                            "toupper",
                                                            "vsnprintf",
                                                            "vsprintf",
                                                            "pthread_self",
                                                            "pthread_equal",
                                                            "sched_yield",
                                                            "pthread_cond_signal",
                                                            "pthread_cond_broadcast",
                                                            "pthread_mutex_init",
                                                            "pthread_mutex_destroy",
                                                            "pthread_cond_init",
                                                            "pthread_cond_destroy",
                                                            "pthread_rwlock_init",
                                                            "pthread_rwlock_destroy",
                                                            "__assert_fail",
                                                            "__errno_location",
                                                            "clock_gettime",
                                                            "posix_memalign",
                                                            "aligned_alloc",
                                                            "strerror",
                                                            "va_start",
                                                            "va_end",
                                                            "va_copy"});
constexpr auto kHarmlessBeginnings = std::to_array<std::string_view>(
    {"mem", "str", "wcs", "wmem", "__builtin_", "operator", "pthread_attr_", "pthread_mutexattr_",
     "_mm_", "__is", "__to"});

constexpr auto kSteps = std::to_array<std::string_view>(
    {"accept",   "access", "bind",           "chmod",     "close",     "closedir",  "connect",
     "dup",      "dup2",   "fclose",         "fcntl",     "fdatasync", "fflush",    "fileno",
     "flock",    "fopen",  "fprintf",        "fputc",     "fputs",     "fread",     "fseek",
     "fstat",    "fsync",  "ftell",          "ftruncate", "fwrite",    "getrlimit", "getc",
     "getline",  "getpid", "geteuid",        "getuid",    "ioctl",     "kill",      "link",
     "listen",   "lseek",  "lstat",          "madvise",   "mkdir",     "mmap",      "munmap",
     "msync",    "open",   "opendir",        "perror",    "pipe",      "poll",      "pread",
     "printf",   "putc",   "putchar",        "puts",      "pwrite",    "read",      "readdir",
     "recv",     "remove", "rename",         "rmdir",     "select",    "send",      "setsockopt",
     "shutdown", "socket", "stat",           "sysconf",   "truncate",  "unlink",    "vfprintf",
     "waitpid",  "write",  "pthread_detach", "openat"});

constexpr auto kAtOnce = std::to_array<std::string_view>({"accumulate",
                                                          "adjacent_find",
                                                          "all_of",
                                                          "any_of",
                                                          "apply",
                                                          "binary_search",
                                                          "call_once",
                                                          "copy_if",
                                                          "count_if",
                                                          "equal",
                                                          "erase_if",
                                                          "find_if",
                                                          "find_if_not",
                                                          "for_each",
                                                          "generate",
                                                          "inner_product",
                                                          "invoke",
                                                          "is_sorted",
                                                          "lexicographical_compare",
                                                          "lower_bound",
                                                          "make_heap",
                                                          "max_element",
                                                          "merge",
                                                          "min_element",
                                                          "minmax_element",
                                                          "mismatch",
                                                          "none_of",
                                                          "nth_element",
                                                          "partial_sort",
                                                          "partition",
                                                          "partition_point",
                                                          "pop_heap",
                                                          "push_heap",
                                                          "qsort",
                                                          "bsearch",
                                                          "reduce",
                                                          "remove_if",
                                                          "replace_if",
                                                          "search",
                                                          "set_difference",
                                                          "set_intersection",
                                                          "set_union",
                                                          "sort",
                                                          "sort_heap",
                                                          "stable_partition",
                                                          "stable_sort",
                                                          "transform",
                                                          "unique",
                                                          "upper_bound",
                                                          "visit",
                                                          "max",
                                                          "min",
                                                          "clamp"});

constexpr auto kReading = std::to_array<std::string_view>(
    {"at",       "back",        "begin",     "count",      "data",          "empty",
     "end",      "equal_range", "find",      "front",      "get",           "lower_bound",
     "max_size", "rbegin",      "rend",      "size",       "top",           "upper_bound",
     "value",    "operator[]",  "operator*", "operator->", "operator bool", "has_value",
     "c_str",    "capacity",    "load",      "use_count",  "lock",          "owner_before",
     "expired",  "joinable",    "get_id"});

}  // namespace

Effect effect_of(std::string_view name, bool in_std) {
  if (in_std) return Effect::kNone;
  if (has(kSteps, name)) return Effect::kStep;
  if (has(kHarmless, name) || begins(kHarmlessBeginnings, name)) return Effect::kNone;
  return Effect::kUnknown;
}

bool calls_at_once(std::string_view name) { return has(kAtOnce, name); }

bool only_reads(std::string_view method) { return has(kReading, method); }

bool allocates(std::string_view name) {
  constexpr std::array<std::string_view, 6> kAllocators = {"aligned_alloc", "calloc", "malloc",
                                                           "realloc",       "strdup", "strndup"};
  return std::ranges::find(kAllocators, name) != kAllocators.end();
}

bool keeps_a_copy(std::string_view class_name) {
  constexpr std::array<std::string_view, 8> kHolders = {
      "any", "basic_string", "expected", "function", "optional", "pair", "tuple", "variant"};
  return std::ranges::find(kHolders, class_name) != kHolders.end();
}

bool makes_or_keeps(std::string_view name) {
  constexpr std::array<std::string_view, 18> kMakers = {
      "append",       "assign",      "emplace",          "emplace_back", "emplace_front",
      "emplace_hint", "insert",      "insert_or_assign", "make_any",     "make_optional",
      "make_pair",    "make_shared", "make_tuple",       "make_unique",  "operator=",
      "push",         "push_back",   "try_emplace"};
  return std::ranges::find(kMakers, name) != kMakers.end();
}

}  // namespace tomos::cpp
