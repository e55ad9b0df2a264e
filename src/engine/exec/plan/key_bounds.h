// KeyBounds: the bounds of an index path as bytes: where a scan starts and ends, and where it may skip to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/catalog/collection.h"
#include "engine/exec/plan/index_path.h"
#include "engine/storage/store.h"

namespace braid::query::plan {

/// Constant after Make.
class KeyBounds {
 public:
  static KeyBounds Make(const IndexPath& path, const catalog::Collection& collection, storage::ShardNumber shard);

  enum class Verdict { kInside, kSeek, kEnd };
  /// For a key of the range: is it within the bounds of every field? If not, `target` is where the next one can be:
  /// Seek (backward: SeekForPrev, and one step further if the cursor meets `target` itself).
  Verdict Check(std::string_view key, bool backward, std::string* target) const;

  bool empty() const { return empty_; }
  /// Everything in one contiguous range: Check() is not needed.
  bool contiguous() const { return checked_ == 0; }
  const storage::Range& range() const { return range_; }
  size_t prefix_size() const { return prefix_size_; }

 private:
  struct Span {
    std::string begin;
    std::string end;
  };
  struct Field {
    std::vector<Span> spans;  // in the order of the stored bytes
    bool descending;
  };
  void AddField(const Intervals& intervals, bool descending, const bson::Collation* collation);
  void SetRange(const IndexPath& path, const std::string& prefix);
  void SetLimits(const IndexPath& path, const std::string& prefix);

  std::vector<Field> fields_;
  size_t checked_ = 0;  // fields that Check() looks at
  size_t prefix_size_ = 0;
  bool empty_ = false;
  storage::Range range_;
};

}  // namespace braid::query::plan
