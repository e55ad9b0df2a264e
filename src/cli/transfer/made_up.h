// Made-up lines on standard output, for the generators.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "braid/status.h"

namespace braid::transfer {

/// Writes so many lines; a pipe that is closed, or a full disk, is an error.
Status WriteMadeUp(uint64_t count, const std::function<std::string()>& next);

}  // namespace braid::transfer
