// SORT: all rows in the order of a pattern; with a limit only the first of them are kept.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/spill.h"

#include "engine/exec/plan/stage.h"

namespace braid::query::plan {

class Sort final : public Stage {
 public:
  /// `limit` 0: none.
  Sort(ShardRun& run, const SortPattern& pattern, uint64_t limit, bool keep_values, std::unique_ptr<Stage> input);

  /// Rows that are sorted and not handed out go to disk.
  void Rest(txn::Context& context) override;

 protected:
  Result<bool> Pull(txn::Context& context, Row* row) override;
  void Describe(bson::Builder& out, bool executed) const override;

 private:
  struct Entry {
    std::string key;
    uint64_t number = 0;  // rows that are alike stay in the order they came
    std::string document;
    std::string document_key;
    std::string values;
    const IndexPath* index = nullptr;
    size_t bytes() const { return sizeof(Entry) + key.size() + document.size() + document_key.size() + values.size(); }
    bool operator<(const Entry& other) const {
      const int order = key.compare(other.key);
      return order != 0 ? order < 0 : number < other.number;
    }
  };
  Status Load(txn::Context& context);
  Status Add(std::string key, const Row& row);
  bool WriteTo(SpillFile& file);
  Result<bool> PullSpilled(Row* row);

  const SortPattern& pattern_;
  const uint64_t limit_;
  const bool keep_values_;
  std::vector<Entry> entries_;  // a heap with the last row on top while loading with a limit
  size_t bytes_ = 0;
  MemoryCharge charge_{MemoryHolder::kSorts};
  uint64_t loaded_ = 0;
  size_t next_ = 0;
  size_t bytes_left_ = 0;                  // of the rows that were not handed out
  std::unique_ptr<SpillFile> spilled_;     // has all of them; null: they are in entries_
  std::vector<const IndexPath*> indexes_;  // of spilled rows, which name them by their position
  bool ready_ = false;
};

/// Gives rows their sort keys, to be merged with the rows of other shards. It is no step of its own in explain.
class SortKeys final : public Stage {
 public:
  SortKeys(ShardRun& run, const SortPattern& pattern, std::unique_ptr<Stage> input)
      : Stage(run, "", std::move(input)), pattern_(pattern) {}

 protected:
  Result<bool> Pull(txn::Context& context, Row* row) override;

 private:
  const SortPattern& pattern_;
  std::string key_;
};

/// {a: 1, b: -1}
bson::Document ToBson(const SortPattern& pattern);

}  // namespace braid::query::plan
