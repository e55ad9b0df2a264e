// A batch of outputs as the changes of one view, by partition; which rows a replay may have stored already (SeenIds);
// and the documents of one command side by side in memory (Documents).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "braid/transaction.h"
#include "client/handles.h"
#include "services/settlement/views/log_reader.h"
#include "services/settlement/views/marks.h"
#include "services/settlement/views/views.h"

namespace braid::settlement::views {

class Documents {
 public:
  void Reserve(size_t count) { ends_.reserve(count); }
  void Add(const client::Bson& document) {
    bytes_.append(reinterpret_cast<const char*>(bson_get_data(document.get())), document.get()->len);
    ends_.push_back(bytes_.size());
  }
  size_t size() const { return ends_.size(); }
  size_t bytes() const { return bytes_.size(); }
  void Clear() {
    bytes_.clear();
    ends_.clear();
  }

  /// Valid until the next call of any member.
  std::vector<const bson_t*> All() {
    views_.resize(ends_.size());
    std::vector<const bson_t*> all;
    all.reserve(ends_.size());
    size_t begin = 0;
    for (size_t i = 0; i < ends_.size(); ++i) {
      const auto* const bytes = reinterpret_cast<const uint8_t*>(bytes_.data() + begin);
      bson_init_static(&views_[i], bytes, ends_[i] - begin);
      all.push_back(&views_[i]);
      begin = ends_[i];
    }
    BRAID_ASSERT(begin == bytes_.size());
    return all;
  }

 private:
  std::string bytes_;
  std::vector<size_t> ends_;
  std::vector<bson_t> views_;
};

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

/// Any thread. The batch must outlive it.
class ViewChanges {
 public:
  /// `seen`: of a replay that has read every chain from its first record on; null otherwise.
  static std::unique_ptr<ViewChanges> Make(View view, const Batch& batch, SeenIds* seen);
  virtual ~ViewChanges() = default;

  /// The documents of some partitions, and their marks, as they are after the batch: each document is written once.
  /// Records that the marks say are applied are left out.
  virtual Status Apply(Transaction& transaction, const std::string& collection,
                       const Marks::Partitions& partitions) const = 0;
};

}  // namespace braid::settlement::views
