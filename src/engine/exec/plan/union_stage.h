// OR: several index scans one after another, each document once. SORT_MERGE: scans of one index merged in its order.
#pragma once

#include <string>

#include "engine/exec/plan/index_scan.h"

namespace braid::query::plan {

class Union final : public Stage {
 public:
  Union(ShardRun& run, std::vector<std::unique_ptr<Stage>> inputs);

 protected:
  Result<bool> Pull(txn::Context& context, Row* row) override;
  void Describe(bson::Builder& out, bool executed) const override;

 private:
  size_t current_ = 0;
  SeenKeys seen_;  // document keys
  uint64_t dups_tested_ = 0;
  uint64_t dups_dropped_ = 0;
};

/// The scans have the same index and fix its first `fixed` fields to different values; the rest of the key orders them.
class MergeScans final : public Stage {
 public:
  MergeScans(ShardRun& run, std::vector<std::unique_ptr<IndexScan>> scans, size_t fixed, bson::Document pattern);

 protected:
  Result<bool> Pull(txn::Context& context, Row* row) override;
  void Describe(bson::Builder& out, bool executed) const override;

 private:
  struct Source {
    Row row;
    std::string_view order;  // the part of the key behind the fixed fields
  };
  Result<bool> Refill(txn::Context& context, size_t input);
  bool Later(size_t a, size_t b) const;

  const size_t fixed_;
  const bool backward_;
  const bson::Document pattern_;
  std::vector<bool> descending_;  // of the fixed fields
  std::vector<Source> sources_;   // by input
  std::vector<size_t> heap_;      // inputs with a row; the first row in order is on top
  bool started_ = false;
};

}  // namespace braid::query::plan
