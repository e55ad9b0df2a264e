// Collection: the description of a collection at one moment. Immutable, except for the fields that index.h marks; a
// change makes a new one.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/gate.h"
#include "engine/catalog/index.h"
#include "engine/sharding/placement.h"
#include "engine/sharding/shard_figures.h"
#include "engine/storage/keys.h"

namespace braid::catalog {

struct Namespace {
  std::string database;
  std::string collection;
  std::string ToString() const { return database + "." + collection; }
  bool operator==(const Namespace&) const = default;
  auto operator<=>(const Namespace&) const = default;

  /// kInvalidNamespace for empty, too long, or forbidden characters.
  static Result<Namespace> Make(std::string_view database, std::string_view collection);
};

/// The state that outlives the descriptions of one collection: its gate and its figures.
struct CollectionState {
  /// Held shared by every statement that writes, alone by the catalogue while it changes the description: so no change
  /// meets a writer that still works from the old one. A writer looks the description up again once it has the gate.
  /// Never held across requests, never twice by one request: a change that waits goes before writers that come later.
  Gate gate;
  std::atomic<int64_t> documents{0};  // as committed
  std::atomic<int64_t> bytes{0};
  std::atomic<bool> dropped{false};
  // Operations on a sharded collection that one shard could answer, and those that needed several.
  std::atomic<uint64_t> targeted{0};
  std::atomic<uint64_t> scattered{0};
  sharding::ShardFigures by_shard;  // of a sharded collection
};

enum class ValidationLevel { kOff, kStrict, kModerate };
enum class ValidationAction { kError, kWarn };

struct Collection {
  Namespace ns;
  uint32_t number = 0;
  std::string uuid;  // 16 bytes
  sharding::PlacementPtr placement;
  storage::LogPosition placed_at = 0;  // the commit of this placement; an older snapshot may have documents elsewhere
  storage::LogPosition named_at = 0;   // the rename that gave it this name; an older snapshot had none or another by it
  bson::Document options;              // as given to create, for listCollections
  std::shared_ptr<const bson::Collation> collation;
  query::Filter validator;
  std::optional<bson::Document> validator_spec;
  ValidationLevel validation_level = ValidationLevel::kStrict;
  ValidationAction validation_action = ValidationAction::kError;
  std::vector<std::shared_ptr<const Index>> indexes;  // [0] is _id
  std::shared_ptr<CollectionState> state;
  /// Not null: there is nothing in the store; the rows were made for this one read (config.*).
  std::shared_ptr<const std::vector<bson::Document>> rows;

  bool sharded() const { return placement->sharded(); }
  /// True if the shard of a document follows from its _id alone, so that reading that shard tells whether the _id is
  /// taken. Not for an _id that equals values with another hash.
  bool PlacedById(const bson::Value& id) const;

  /// An index whose first fields are the key's, without exceptions (sparse, partial, arrays, collation): what a shard
  /// key must have. The _id index serves {_id: 1}. Null if there is none.
  const Index* ShardKeyIndex(const sharding::ShardKey& key) const;

  const Index* FindIndex(std::string_view name) const;
  const Index* FindIndex(uint32_t index_number) const;
  bool has_ttl() const;
  /// True if the document has expired at `now_millis` by a TTL index: reads do not show it from that moment on.
  bool IsExpired(bson::View document, int64_t now_millis) const;
};

/// The description as the catalogue stores it:
///   {number: Long, uuid: UUID, placement: {…} (sharding/placement.h), options: {…as given to create, or as collMod
///   made them},
///    indexes: [{number: Long, building: bool, spec: {…as listIndexes shows it}}, …]}
bson::Document DescriptionOf(const Collection& collection);
/// kStorageCorrupt names the collection.
Result<std::shared_ptr<Collection>> ParseDescription(Namespace ns, bson::View description);
/// Fills the fields that follow from `options`: collation, validator, level, action. kBadValue, ….
Status ApplyOptions(Collection* collection);
/// The reverse for what collMod may change: `options` and the parsed validator from validator_spec, level and action.
Status UpdateOptions(const Collection& before, Collection* collection);

using CollectionPtr = std::shared_ptr<const Collection>;

}  // namespace braid::catalog
