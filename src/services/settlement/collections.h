// What the collections of the settlement log must look like.
#pragma once

#include <span>

#include "services/schema/schema.h"

namespace braid::settlement {

/// As Chains::Open() creates them for the default name of the log (C1). Their shard key is the operator's choice
/// (docs/settlement.md). Views and a migration are not part of it: which of their collections there are depends on how
/// often they were rebuilt and how far they have come.
std::span<const schema::CollectionSpec> Collections();

}  // namespace braid::settlement
