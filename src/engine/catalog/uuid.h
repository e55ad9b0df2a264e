// A new random UUID (version 4), as 16 bytes.
#pragma once

#include <string>

namespace braid::catalog {

std::string MakeUuid();

}  // namespace braid::catalog
