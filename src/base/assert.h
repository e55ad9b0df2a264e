// BRAID_ASSERT: states an invariant of our own code. Active in release builds, and never reachable by a user's input.
#pragma once

namespace braid {
[[noreturn]] void AssertFailed(const char* condition, const char* file, int line);
}  // namespace braid

#define BRAID_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::braid::AssertFailed(#condition, __FILE__, __LINE__))
