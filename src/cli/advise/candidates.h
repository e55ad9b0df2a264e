// Candidates: the shard keys worth rating when none are given.
#pragma once

#include <vector>

#include "cli/advise/rating.h"

namespace braid::advise {

/// _id and every field that operations fix by equality or $in, hashed and ranged; fields of ranges and sorts, ranged;
/// and compounds of an equality field with a field of many values that is asked for beside it, or _id. Without
/// operations: the fields of the documents. Only scalar fields that the documents have, and none with an array on its
/// path. The most used first, and not too many to read.
std::vector<ShardKey> FindCandidates(const Sample& sample, const Workload& workload, size_t shards);

}  // namespace braid::advise
