#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

#include "base/log.h"

namespace braid {
void AssertFailed(const char* condition, const char* file, int line) {
  log::Flush();  // write out the log lines that led here
  std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, condition);
  std::abort();
}
}  // namespace braid
