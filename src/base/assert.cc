#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace braid {
void AssertFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, condition);
  std::abort();
}
}  // namespace braid
