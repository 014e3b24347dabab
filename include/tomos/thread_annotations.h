// Clang's thread-safety attributes under the names of its documentation: which lock guards what,
// and what functions do to locks. For other compilers they are nothing. A name that is defined
// already stays as it is.
#ifndef TOMOS_THREAD_ANNOTATIONS_H
#define TOMOS_THREAD_ANNOTATIONS_H

#ifdef __clang__
#define TOMOS_THREAD_ANNOTATION_(...) __attribute__((__VA_ARGS__))
#else
#define TOMOS_THREAD_ANNOTATION_(...)
#endif

#ifndef CAPABILITY
#define CAPABILITY(name) TOMOS_THREAD_ANNOTATION_(capability(name))
#endif
#ifndef SCOPED_CAPABILITY
#define SCOPED_CAPABILITY TOMOS_THREAD_ANNOTATION_(scoped_lockable)
#endif
#ifndef GUARDED_BY
#define GUARDED_BY(lock) TOMOS_THREAD_ANNOTATION_(guarded_by(lock))
#endif
#ifndef PT_GUARDED_BY
#define PT_GUARDED_BY(lock) TOMOS_THREAD_ANNOTATION_(pt_guarded_by(lock))
#endif
#ifndef REQUIRES
#define REQUIRES(...) TOMOS_THREAD_ANNOTATION_(requires_capability(__VA_ARGS__))
#endif
#ifndef REQUIRES_SHARED
#define REQUIRES_SHARED(...) TOMOS_THREAD_ANNOTATION_(requires_shared_capability(__VA_ARGS__))
#endif
#ifndef EXCLUDES
#define EXCLUDES(...) TOMOS_THREAD_ANNOTATION_(locks_excluded(__VA_ARGS__))
#endif
#ifndef ACQUIRE
#define ACQUIRE(...) TOMOS_THREAD_ANNOTATION_(acquire_capability(__VA_ARGS__))
#endif
#ifndef ACQUIRE_SHARED
#define ACQUIRE_SHARED(...) TOMOS_THREAD_ANNOTATION_(acquire_shared_capability(__VA_ARGS__))
#endif
#ifndef RELEASE
#define RELEASE(...) TOMOS_THREAD_ANNOTATION_(release_capability(__VA_ARGS__))
#endif
#ifndef RELEASE_SHARED
#define RELEASE_SHARED(...) TOMOS_THREAD_ANNOTATION_(release_shared_capability(__VA_ARGS__))
#endif
#ifndef TRY_ACQUIRE
#define TRY_ACQUIRE(...) TOMOS_THREAD_ANNOTATION_(try_acquire_capability(__VA_ARGS__))
#endif
#ifndef ASSERT_CAPABILITY
#define ASSERT_CAPABILITY(lock) TOMOS_THREAD_ANNOTATION_(assert_capability(lock))
#endif
#ifndef RETURN_CAPABILITY
#define RETURN_CAPABILITY(lock) TOMOS_THREAD_ANNOTATION_(lock_returned(lock))
#endif
#ifndef NO_THREAD_SAFETY_ANALYSIS
#define NO_THREAD_SAFETY_ANALYSIS TOMOS_THREAD_ANNOTATION_(no_thread_safety_analysis)
#endif

#endif
