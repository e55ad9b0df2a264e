// Cluster: the shards of this server and the databases' primary shards, as the catalogue keeps them.
#pragma once

#include <string>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/storage/keys.h"

namespace braid::catalog {

/// A shard is a range of the key space (keys.h); its number is never used again.
struct Shard {
  storage::ShardNumber number = 0;
  std::string name;
  bool draining = false;  // removeShard was called: it gets no new documents, and the balancer empties it
  uint64_t added = 0;     // Timestamp
};

struct Cluster {
  bson::ObjectId id{};
  storage::ShardNumber end = 0;  // above every number ever given
  std::vector<Shard> shards;     // by number

  const Shard* Find(std::string_view name) const;
  const Shard* Find(storage::ShardNumber number) const;
  /// "shard3" unless it was given another name; the number's own name if there is no such shard any more.
  std::string NameOf(storage::ShardNumber number) const;
};

/// The shard of a database's unsharded collections.
struct Database {
  std::string name;
  storage::ShardNumber primary = 0;
  std::string uuid;        // 16 bytes
  uint64_t timestamp = 0;  // when it got its primary shard
  uint32_t moves = 1;      // how many times it got one
};

}  // namespace braid::catalog
