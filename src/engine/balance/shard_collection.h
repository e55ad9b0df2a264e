// ShardCollection: makes a collection sharded, empty or filled, while others use it.
#pragma once

#include "engine/txn/context.h"

namespace braid::balance {

struct ShardOptions {
  sharding::ShardKey key;
  bool unique = false;
  uint32_t initial_chunks = 0;  // 0: two per shard, if the key is hashed
  uint64_t timestamp = 0;
};

/// The collection exists. Creates the shard key's index if the collection is empty; kInvalidOptions if it is not and
/// has none. The same key again is OK and changes nothing; another one is kAlreadyInitialized. On any error the
/// collection is as it was. In three steps: writers begin to keep the keys that are unique over all shards (announced
/// under the gate), every document gets them, and the table of chunks is shown (under the gate).
Status ShardCollection(txn::Context& context, const catalog::Namespace& ns, const ShardOptions& options);

}  // namespace braid::balance
