// Checking the numbers of options.
#pragma once

#include <cstdint>

#include "base/strings.h"
#include "braid/status.h"

namespace braid::explorer::source {

/// kBadValue, with the name, the value and its range, if it is out of range.
inline Status CheckRange(const char* name, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return {};
  return Status(Code::kBadValue, StrCat(name, " is ", value, ", but must be ", least, " to ", most));
}

}  // namespace braid::explorer::source
