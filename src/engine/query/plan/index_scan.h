// IXSCAN: the entries of an index within bounds, each document once. COUNT_SCAN is the same for counting.
#pragma once

#include <string>
#include <unordered_set>

#include "engine/query/plan/key_bounds.h"
#include "engine/query/plan/stage.h"

namespace braid::query::plan {

class IndexScan final : public Stage {
 public:
  /// Ends after `keys_max` entries: for a trial.
  IndexScan(Run& run, IndexPath path, std::string_view name = "IXSCAN", uint64_t keys_max = UINT64_MAX);
  const IndexPath& path() const { return path_; }

 protected:
  Result<bool> Pull(txn::Context& context, Row* row) override;
  void Describe(bson::Builder& out, bool executed) const override;

 private:
  void Open(txn::Context& context);
  /// Moves on to the next entry within the bounds; false at the end.
  Result<bool> Advance(txn::Context& context);
  Status FillRow(Row* row);

  const IndexPath path_;
  const KeyBounds bounds_;
  const uint64_t keys_max_;
  std::unique_ptr<storage::Cursor> cursor_;  // null until the first pull
  std::string document_key_;                 // begins with the prefix of the collection's documents
  size_t document_prefix_size_ = 0;
  std::string target_;
  std::unordered_set<std::string> seen_;  // keys of _id, if a document may have several entries
  uint64_t keys_examined_ = 0;
  uint64_t seeks_ = 0;
  uint64_t dups_tested_ = 0;
  uint64_t dups_dropped_ = 0;
};

/// keyPattern, indexName, … indexBounds, as explain shows them.
void DescribeIndex(const IndexPath& path, bson::Builder& out);

}  // namespace braid::query::plan
