#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

#include "base/log.h"

namespace braid {
void AssertFailed(const char* condition, const char* file, int line) {
  log::Flush();  // what led here comes first
  std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, condition);
  std::abort();
}
}  // namespace braid
