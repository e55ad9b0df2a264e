// IndexSpec: the specification given to createIndexes. Index: a live index of a collection with its number and multikey
// state.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "braid/status.h"
#include "engine/bson/collation.h"
#include "engine/bson/value.h"
#include "engine/language/match/filter.h"
#include "engine/language/match/key_paths.h"
#include "engine/storage/store.h"

namespace braid::catalog {

struct IndexField {
  std::string path;
  bool descending = false;
  bool hashed = false;
};

/// A parsed specification. Parse() answers with MongoDB's codes (67, 85, 86, 197, …).
struct IndexSpec {
  std::string name;
  bson::Document key_pattern;  // as given: {a: 1, b: -1, c: "hashed"}
  std::vector<IndexField> fields;
  bool unique = false;
  bool sparse = false;
  bool hidden = false;
  std::optional<bool> background;                    // as it was given: only shown
  std::optional<int64_t> expire_after_seconds;       // TTL
  std::shared_ptr<const bson::Collation> collation;  // null: simple
  std::optional<bson::Document> partial_filter;      // as given
  query::Filter partial;                             // parsed; matches everything if there is none
  query::KeyPaths paths;                             // of the fields

  bool is_id() const { return name == "_id_"; }
  bool is_hashed() const;  ///< one of its fields is
  bool is_ttl() const { return expire_after_seconds.has_value() && !is_hashed(); }

  /// `default_collation` is the collection's, taken when the specification names none.
  static Result<IndexSpec> Parse(bson::View specification, std::shared_ptr<const bson::Collation> default_collation);
  /// As listIndexes shows it, and as the catalogue stores it.
  bson::Document ToBson() const;
  /// The index every collection has: {_id: 1}, under the collection's collation. It has no entries of its own: the
  /// documents' keys are in its order, and it is unique because they are.
  static IndexSpec Id(std::shared_ptr<const bson::Collation> collation);
  static constexpr size_t kFieldsMax = 32;

  /// Compares two specifications by MongoDB's rules: false if they do not conflict, true if they are the same index,
  /// else the error 85 or 86.
  Result<bool> CompareWith(const IndexSpec& existing) const;
};

/// An index in use. Spec and number never change; multikey bits are only ever set.
struct Index {
  IndexSpec spec;
  uint32_t number = 0;                        // 0: the _id index
  bool building = false;                      // writers maintain it, readers do not use it yet
  storage::LogPosition ready_at = 0;          // the commit that made it ready; an older snapshot may lack entries
  mutable std::atomic<uint64_t> multikey{0};  // bit i: field i has met an array
  mutable std::atomic<uint64_t> multikey_stored{0};  // those of the bits that are committed
  mutable std::atomic<bool> build_failed{false};     // a writer met a duplicate while a unique index was being built
  mutable std::atomic<uint64_t> uses{0};             // for $indexStats

  bool is_multikey() const { return multikey.load(std::memory_order_relaxed) != 0; }
  /// A copy to be changed, for Catalog::Modify: later counts of the original are lost, so only under the gate.
  std::shared_ptr<Index> Clone() const;
  /// Called by a writer that breaks this index while it is being built: the build will fail with this error, and the
  /// write succeeds.
  void FailBuild(const Status& why) const;
  Status build_error() const;  ///< the first one; OK if none

 private:
  mutable Mutex build_mu_;
  mutable Status build_error_ BRAID_GUARDED_BY(build_mu_);
};

/// The filter of a partial index is of the part of the query language that the planner can reason about:
/// kCannotCreateIndex for an operator other than $eq, $gt(e), $lt(e), $in, $exists: true, $type, $and, $or.
Result<query::Filter> ParsePartialFilter(bson::View filter, std::shared_ptr<const bson::Collation> collation);

}  // namespace braid::catalog
