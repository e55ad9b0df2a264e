// The specification of the settlement log's collections.
#pragma once

#include <span>

#include "services/schema/schema.h"

namespace braid::settlement {

/// As Chains::Open() creates them for the default name of the log (C1). Their shard key is the operator's choice
/// (docs/settlement.md). Views and a migration are not part of it: which of their collections exist depends on rebuilds
/// and on the phase of the migration.
std::span<const schema::CollectionSpec> Collections();

}  // namespace braid::settlement
