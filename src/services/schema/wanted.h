// A parsed spec, in the form that the commands take.
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

}  // namespace braid::schema
