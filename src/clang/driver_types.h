// Kinds of C++ types that a driver is made of.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/Type.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace tomos::cpp {

bool is_lock_type(clang::QualType type);  // std::mutex, pthread_mutex_t
bool is_recursive_lock(clang::QualType type);
bool is_condition_type(clang::QualType type);
bool is_thread_type(clang::QualType type);  // std::thread, pthread_t, std::future
bool is_future_type(clang::QualType type);
bool is_joined_at_end(clang::QualType type);  // std::jthread, std::future; not if there is no type
bool is_flag_type(clang::QualType type);      // std::atomic_flag
bool is_atomic_type(clang::QualType type);    // std::atomic<T>, _Atomic
bool is_smart_pointer(clang::QualType type);
bool is_function_object(clang::QualType type);  // std::function, or what a lambda makes
bool is_unknown_meeting(clang::QualType type);  // promises and such

// What threads meet at (driver_meetings.cpp).
enum class Meeting : std::uint8_t {
  kNone,
  kSharedLock,
  kSemaphore,
  kLatch,
  kBarrier,
  kOnce,
  kPromise,
};
bool is_of_cpp(clang::QualType type);  // a class of namespace std
Meeting meeting_of(clang::QualType type);
bool is_any_lock_type(clang::QualType type);  // also std::shared_mutex, pthread_rwlock_t

// Of std::lock_guard and the like the name; else empty.
std::string_view guard_type(clang::QualType type);

clang::QualType without_atomic(clang::QualType type);
// T of std::vector<T>, std::array<T, N>, T[N]; none: null.
clang::QualType contained_type(clang::QualType type);
std::optional<std::uint64_t> array_size(clang::QualType type, const clang::ASTContext& context);

}  // namespace tomos::cpp
