// A project's own macros and locks.
#pragma once
#define MY_ATTRIBUTE(x) __attribute__((x))
#define MY_GUARDED_BY(x) MY_ATTRIBUTE(guarded_by(x))
#define MY_PT_GUARDED_BY(x) MY_ATTRIBUTE(pt_guarded_by(x))
#define MY_LOCKS_REQUIRED(...) MY_ATTRIBUTE(exclusive_locks_required(__VA_ARGS__))
#define MY_LOCKS_EXCLUDED(...) MY_ATTRIBUTE(locks_excluded(__VA_ARGS__))
