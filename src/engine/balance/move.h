// Moving chunks between shards while others read and write.
#pragma once

#include "engine/txn/context.h"

namespace braid::balance {

/// A range of shard keys: bounds as config.chunks has them. Both empty: all of an unsharded collection.
struct KeyBoundsOfMove {
  bson::Document min;
  bson::Document max;
};

/// Moves a range to a shard and returns the number of documents moved. The range is cut out of its chunk first; it may
/// span several chunks if they are on one shard. In three steps: the table says that the range is on its way (new
/// documents go to the new shard, readers look on both), the documents follow in batches, and the table says that all
/// are there. A kill in between loses nothing: ContinueMoves goes on from the second step.
/// kConflictingOperationInProgress if part of the range is moving already; kBadValue for bounds that do not fit.
Result<uint64_t> MoveRange(txn::Context& context, const catalog::Namespace& ns, uint32_t number,
                           const KeyBoundsOfMove& range, storage::ShardNumber to);

/// Finishes every move of the collection that was begun.
Result<uint64_t> ContinueMoves(txn::Context& context, const catalog::Namespace& ns, uint32_t number);

}  // namespace braid::balance
