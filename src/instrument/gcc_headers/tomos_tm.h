// Included before all else when gcc compiles with -fgnu-tm. Functions that are called in
// transactions must be known to do nothing there that cannot be undone, and the calls that
// -finstrument-functions puts into them are not. Here they are said to be harmless, and named so
// that the runtime knows them from those of other files.
#pragma GCC system_header
#pragma once

#ifdef __cplusplus
extern "C" {
#define TOMOS_NO_THROW noexcept
#else
#define TOMOS_NO_THROW
#endif

void __cyg_profile_func_enter(void*, void*) __asm__("__tomos_profile_enter")
    __attribute__((__transaction_pure__));
void __cyg_profile_func_exit(void*, void*) __asm__("__tomos_profile_exit")
    __attribute__((__transaction_pure__));
void* __builtin_return_address(unsigned int) TOMOS_NO_THROW __attribute__((__transaction_pure__));

#undef TOMOS_NO_THROW
#ifdef __cplusplus
}
#endif
