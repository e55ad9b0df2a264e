// ShardKey: the fields a collection may be sharded by, as they are rated and shown. The engine decides which keys are
// valid (sharding/shard_key.h); here candidates are made from fields, and values are examined before they are hashed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/status.h"
#include "engine/bson/value.h"
#include "engine/language/match/key_paths.h"

namespace braid::advise {

/// Immutable after construction.
class ShardKey {
 public:
  struct Field {
    std::string path;
    bool hashed = false;
    bool operator==(const Field&) const = default;
  };

  /// At least one field, at most one of them hashed.
  explicit ShardKey(std::vector<Field> fields);
  /// {"user_id": "hashed"} or {"zone": 1, "user_id": 1}: what shardCollection takes, and its errors.
  static Result<ShardKey> Parse(bson::View specification);

  const std::vector<Field>& fields() const { return fields_; }
  /// One field, hashed: its documents are placed by the hash alone.
  bool IsHashed() const { return fields_.size() == 1 && fields_[0].hashed; }
  bool HasHashed() const;
  bool operator==(const ShardKey& other) const { return fields_ == other.fields_; }

  bson::Document ToBson() const;
  /// As mongosh takes it: { user_id: "hashed" }; names that need quotes have them.
  std::string ToText() const;

  /// The values of the document, missing ones as null; nothing if an array is on the way: such a document cannot be
  /// stored under this key. Views of the document.
  std::optional<std::vector<bson::Value>> ValuesOf(bson::View document) const;
  /// The place of such values in the order of the key (hashes in place of hashed values).
  std::string Encode(const std::vector<bson::Value>& values) const;
  /// Those values as a document, { user_id: null }.
  bson::Document ToDocument(const std::vector<bson::Value>& values) const;

 private:
  std::vector<Field> fields_;
  query::KeyPaths paths_;
};

}  // namespace braid::advise
