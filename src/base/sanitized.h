// kSanitized: whether this is a build with AddressSanitizer or ThreadSanitizer.
#pragma once

namespace braid {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BRAID_SANITIZED 1
#endif
#endif

#ifdef BRAID_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace braid
