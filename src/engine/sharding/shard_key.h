// ShardKey: the fields of a document that determine its shard (E2).
#pragma once

#include <string>
#include <vector>

#include "braid/status.h"
#include "engine/bson/value.h"
#include "engine/language/match/key_paths.h"

namespace braid::sharding {

/// A pattern of ranged fields and at most one hashed one: {user_id: "hashed"}, {a: 1, b: 1}. The empty pattern is that
/// of an unsharded collection. A key is the bytes of its values (bson/key_encoding.h), so keys are in the order of
/// their values; a hashed field has MongoDB's hash as its value, a missing one null. Immutable; any thread.
class ShardKey {
 public:
  struct Field {
    std::string path;
    bool hashed = false;
  };

  ShardKey() = default;
  /// kBadValue, or MongoDB's error for an invalid key.
  static Result<ShardKey> Parse(bson::View pattern);

  bool empty() const { return fields_.empty(); }
  const std::vector<Field>& fields() const { return fields_; }
  const bson::Document& pattern() const { return pattern_; }
  bool has_hashed_field() const;
  bool starts_hashed() const { return !fields_.empty() && fields_.front().hashed; }
  /// True if documents with equal _id have equal keys (but for numbers under a hash: bson::HashesOfEqual).
  bool is_of_id() const;

  /// The key of a document. kShardKeyNotFound for values that cannot be placed: arrays, regular expressions, undefined.
  Result<std::string> KeyOf(bson::View document) const;
  /// The same as a document, as config.chunks has it: {user_id: NumberLong(hash)}.
  Result<bson::Document> ValuesOf(bson::View document) const;
  /// The same without hashing, for people.
  Result<bson::Document> PlainValuesOf(bson::View document) const;

  /// The key of a bound such as {user_id: MinKey}: a value for each field, in order, already hashed. kBadValue.
  Result<std::string> Encode(bson::View bound) const;
  /// A bound that names only the first fields gets MinKey for the rest.
  Result<bson::Document> Complete(bson::View bound) const;
  bson::Document Lowest() const;   ///< every field MinKey
  bson::Document Highest() const;  ///< every field MaxKey

 private:
  Result<std::vector<bson::OwnedValue>> Values(bson::View document, bool hash) const;
  Result<bson::Document> Named(bson::View document, bool hash) const;

  bson::Document pattern_;
  std::vector<Field> fields_;
  query::KeyPaths paths_;
};

}  // namespace braid::sharding
