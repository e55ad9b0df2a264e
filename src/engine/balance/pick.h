// Pick: finds a range of a shard with about a given number of documents, to be moved to another shard.
#pragma once

#include <optional>

#include "engine/balance/move.h"

namespace braid::balance {

struct Picked {
  KeyBoundsOfMove range;
  uint64_t documents = 0;
};

/// A range at the end of one of the shard's chunks, or a whole chunk, with at most `documents` documents and as near to
/// that as one chunk allows. Keys are never cut in two. Nothing if every chunk of the shard is one key, or moving.
Result<std::optional<Picked>> PickByDocuments(txn::Context& context, const catalog::Collection& collection,
                                              storage::ShardNumber shard, uint64_t documents);

/// The same by the width of the hash's range, for collections with too few documents to judge by: at most `share` of
/// all.
std::optional<KeyBoundsOfMove> PickByWidth(const sharding::Placement& placement, storage::ShardNumber shard,
                                           double share);

/// The shard key in the middle of a chunk's documents, where the chunk can be cut; nothing if they all share one.
Result<std::optional<bson::Document>> MedianKey(txn::Context& context, const catalog::Collection& collection,
                                                size_t chunk);

/// The share of the hash's range that a shard has. The shard key starts hashed.
double WidthOf(const sharding::Placement& placement, storage::ShardNumber shard);

}  // namespace braid::balance
