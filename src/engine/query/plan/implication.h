// Implication: may a partial index serve a query? Only if every document that meets the query is in it.
#pragma once

#include "engine/bson/collation.h"
#include "engine/query/match/match_node.h"

namespace braid::query::plan {

/// True only if every document that meets `query` meets `partial`; false if that is not seen at once. `same_collation`
/// says whether both compare strings alike, by `collation`.
bool Implies(const MatchNode& query, const MatchNode& partial, bool same_collation, const bson::Collation* collation);

}  // namespace braid::query::plan
