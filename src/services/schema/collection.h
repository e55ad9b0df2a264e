// A collection as its spec wants it, parsed into the form that the commands take, and as the store has it: its options,
// indexes and shard key. The kind of store says what it supports.
#pragma once

#include <string>
#include <vector>

#include "client/handles.h"
#include "services/schema/schema.h"

namespace braid::schema {

struct WantedIndex {
  std::string name;
  client::BsonPtr keys;
  client::BsonPtr definition;  // as createIndexes takes it
  bool unique = false;
  bool named = false;  // the spec gives the name, so that another one is a difference
};

struct Wanted {
  std::string name;
  client::BsonPtr validator;  // null: none
  std::vector<WantedIndex> indexes;
  client::BsonPtr shard_key;  // null: none
};

/// kFailedToParse names the collection and the document that is not JSON.
Result<Wanted> ReadSpec(const CollectionSpec& spec);

/// The document without some fields.
client::BsonPtr Without(const bson_t& document, std::initializer_list<const char*> fields);

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
