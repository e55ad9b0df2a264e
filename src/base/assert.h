// BRAID_ASSERT: a fault of our own, on in release too, never reached by any input of a user.
#pragma once

namespace braid {
[[noreturn]] void AssertFailed(const char* condition, const char* file, int line);
}  // namespace braid

#define BRAID_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::braid::AssertFailed(#condition, __FILE__, __LINE__))
