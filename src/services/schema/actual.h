// The actual state of a store: its kind, and a collection with its options, indexes and shard key.
#pragma once

#include <string>
#include <vector>

#include "client/handles.h"

namespace braid::schema {

struct StoreKind {
  bool shards = false;              // it can shard: Braid, or a MongoDB cluster behind mongos
  bool unique_over_shards = false;  // an index without the shard key can be unique: Braid
};

/// A collection of the store, as the store describes it.
struct Actual {
  std::string type;                      // "collection", "view", …; empty: there is none
  client::BsonPtr options;               // of listCollections; empty if there is none
  std::vector<client::BsonPtr> indexes;  // of listIndexes
  client::BsonPtr shard_key;             // null: not sharded

  bool exists() const { return !type.empty(); }
};

Result<StoreKind> AskKind(mongoc_client_t* client);

Result<Actual> ReadActual(mongoc_client_t* client, const StoreKind& kind, const std::string& database,
                          const std::string& collection);

/// A document that is a field of another; empty if there is none.
client::BsonPtr SubDocument(const bson_t& document, const char* field);

}  // namespace braid::schema
