// Collection: the description of a collection at one moment. Immutable but for what index.h marks; a change makes a new
// one.
#pragma once

#include <atomic>
#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

#include "engine/catalog/index.h"
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

/// What outlives the descriptions of one collection: its gate and its figures.
struct CollectionState {
  /// Held shared by every statement that writes, alone by drop, rename and the first moment of an index build: so none
  /// of these meets a writer that still works from the old description. Never held across requests.
  std::shared_mutex gate;
  std::atomic<int64_t> documents{0};  // as committed
  std::atomic<int64_t> bytes{0};
  std::atomic<bool> dropped{false};
};

enum class ValidationLevel { kOff, kStrict, kModerate };
enum class ValidationAction { kError, kWarn };

struct Collection {
  Namespace ns;
  uint32_t number = 0;
  std::string uuid;  // 16 bytes
  storage::ShardNumber primary_shard = 0;
  bson::Document options;  // as given to create, for listCollections
  std::shared_ptr<const bson::Collation> collation;
  query::Filter validator;
  std::optional<bson::Document> validator_spec;
  ValidationLevel validation_level = ValidationLevel::kStrict;
  ValidationAction validation_action = ValidationAction::kError;
  std::vector<std::shared_ptr<const Index>> indexes;  // [0] is _id
  std::shared_ptr<CollectionState> state;

  const Index* FindIndex(std::string_view name) const;
  bool has_ttl() const;
  /// True if a TTL index says that the document is over at `now_millis`: reads do not show it from that moment.
  bool IsExpired(bson::View document, int64_t now_millis) const;
};

using CollectionPtr = std::shared_ptr<const Collection>;

}  // namespace braid::catalog
