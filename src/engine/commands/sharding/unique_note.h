// The notice about unique indexes that MongoDB would refuse on a sharded collection.
#pragma once

#include <string>

#include "engine/catalog/collection.h"

namespace braid::commands {

/// Empty if there is no such index.
std::string UniqueNote(const catalog::Collection& collection);

}  // namespace braid::commands
