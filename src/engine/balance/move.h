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
/// span several chunks if they are on one shard. Three steps: the table of chunks marks the range as moving (new
/// documents go to the new shard, readers read both), the documents are moved in batches, and the table marks the move
/// as done. A kill in between loses nothing: ContinueMoves continues with the second step.
/// kConflictingOperationInProgress if part of the range is moving already; kBadValue for bounds that do not fit.
Result<uint64_t> MoveRange(txn::Context& context, const catalog::Namespace& ns, uint32_t number,
                           const KeyBoundsOfMove& range, storage::ShardNumber to);

/// Finishes every move of the collection that was begun.
Result<uint64_t> ContinueMoves(txn::Context& context, const catalog::Namespace& ns, uint32_t number);

}  // namespace braid::balance
