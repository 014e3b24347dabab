// Random tests look at a quarter of their programs under AddressSanitizer: it looks for other
// mistakes than they do, and takes its time.
#pragma once

namespace tomos {

#if __has_feature(address_sanitizer)
inline constexpr int kShare = 4;
#else
inline constexpr int kShare = 1;
#endif

}  // namespace tomos
