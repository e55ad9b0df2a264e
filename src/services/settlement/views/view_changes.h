// A batch of outputs as the changes of one view, by partition; and what a run knows of the rows that it has stored
// itself, so that it need not look for them: which there may be (SeenIds), and those of balances (RowMemory).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "braid/transaction.h"
#include "services/settlement/views/kinds.h"
#include "services/settlement/views/log_reader.h"
#include "services/settlement/views/marks.h"
#include "services/settlement/views/views.h"

namespace braid::settlement::views {

/// A Bloom filter over the ids that a replay has met: an id that it has not met is not stored, and is inserted without
/// a look-up. Takes two bytes for each id that is expected, and 32 MiB at most; with more than some 20 million ids it
/// is mistaken more often, and more of them are looked for. One thread at a time.
class SeenIds {
 public:
  explicit SeenIds(int64_t expected)
      : lines_(std::bit_ceil(std::clamp(static_cast<size_t>(expected) / kIdsOfOneLine, size_t{1}, kLinesMax))) {}

  /// False if the id was never added. Adds it.
  bool TestAndAdd(std::string_view id);

 private:
  static constexpr size_t kIdsOfOneLine = 32;
  static constexpr size_t kLinesMax = size_t{1} << 19;
  struct alignas(64) Line {
    uint64_t words[8] = {};
  };
  std::vector<Line> lines_;  // as many as a power of two
};

/// Of one view, and one run. Rows are used only where the marks say that nobody else has applied anything meanwhile.
struct RowMemory {
  /// How many balances are kept, some 50 MB at most; more of them are looked for each time.
  static constexpr size_t kBalancesMax = 200'000;

  std::unique_ptr<SeenIds> seen;  ///< of a replay that reads every chain from its first record on; null otherwise
  /// As they were committed, by id. A partition is used by one thread at a time.
  std::array<std::unordered_map<std::string, Balances::Row>, kPartitions> balances;
};

/// One batch, or several that follow each other. One thread adds; then any threads apply, each some of the partitions.
/// The memory must outlive it.
class ViewChanges {
 public:
  static std::unique_ptr<ViewChanges> Make(View view, RowMemory& memory);
  virtual ~ViewChanges() = default;

  void Add(std::shared_ptr<const Batch> batch);
  bool empty() const { return batches_.empty(); }
  /// It is time to apply what was added. More than one batch where they change mostly the same documents, each of which
  /// is then written once for all of them.
  bool full() const { return batches_.size() >= batches_at_once(); }
  /// The newest record of each chain.
  const Positions& ends() const { return ends_; }

  /// The documents of some partitions, and their marks, as they are afterwards: each document is written once. Records
  /// that the marks say are applied are left out. Called again if the transaction has to be run again.
  virtual Status Apply(Transaction& transaction, const std::string& collection,
                       const Marks::Partitions& partitions) = 0;
  /// The transaction of the last Apply() of these partitions was committed.
  virtual void Committed(const Marks::Partitions& /*partitions*/) {}

 protected:
  virtual size_t batches_at_once() const { return 1; }
  virtual void Gather(const Batch& batch) = 0;
  const Positions& before() const { return batches_.front()->before; }
  template <typename Call>
  void ForEachItem(const Call& call) const {
    for (const auto& batch : batches_) {
      for (const Item& item : batch->items) call(item);
    }
  }

 private:
  std::vector<std::shared_ptr<const Batch>> batches_;
  Positions ends_;
};

}  // namespace braid::settlement::views
