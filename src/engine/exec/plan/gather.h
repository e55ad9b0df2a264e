// Gather: one stream from the plans of several shards, in the order asked for. ShardPulls says on which thread each
// shard is pulled; KeyMerge merges the first rows by the keys of their index entries.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/exec/plan/shard_plan.h"
#include "engine/txn/context.h"

namespace braid::query::plan {

/// Calls piece(0), piece(1), … in parallel on the shared workers, or here if there are none. Each is work of the
/// context's operation: interrupted with it, with limits of memory of its own (base/work.h).
void RunPieces(txn::Context& context, size_t count, const std::function<void(size_t)>& piece);

/// Work for each of several shards: done by the caller as long as that is quick, otherwise in parallel. One thread at a
/// time.
class ShardPulls {
 public:
  /// Calls pull(0, true), pull(1, true), … here, until one of them returns false, which means that there are enough
  /// rows. As soon as shards turn out to take long, the rest is done in parallel by pull(i, false), now and in later
  /// calls.
  void Run(txn::Context& context, size_t count, const std::function<bool(size_t i, bool alone)>& pull);

 private:
  bool slow_ = false;
};

/// Rows of several shards in the order of an index: every shard finds its next entry, and only the first of them
/// becomes a row: no document is read without need, none is copied. That is best for a few rows. The shards can be
/// pulled in another way at any time. Not thread-safe.
class KeyMerge {
 public:
  /// The shards have one and the same access, which IsKeyOrdered (shard_plan.h).
  KeyMerge(std::vector<std::unique_ptr<ShardPlan>>& shards, bool backward);

  /// The shard that the row came from; null at the end. The row is valid until the next call.
  Result<ShardPlan*> Next(txn::Context& context, Row* row);

 private:
  struct Source {
    ShardPlan* plan;
    std::optional<std::string_view> key;  // of the next row; none: given out, or at the end
    bool ended = false;
    Status status;
  };
  static void Peek(txn::Context& context, SpareCursor* spare, Source& source);
  Status PeekAll(txn::Context& context);
  Source* First();

  std::vector<Source> sources_;
  const bool backward_;
  ShardPulls pulls_;
  bool started_ = false;
  Source* last_ = nullptr;  // where the last row came from: it moves on with the next call
};

/// Pulls the shards in rounds: in a round every shard that has run low hands over some rows, and nothing runs between
/// rounds, so a stream can lie in a cursor. The first shard of a round is pulled on the caller's thread; if that takes
/// long, the others go on in parallel with it (ShardPulls). Sorted: merged by sort key, so every shard has to have a
/// row before the first is given out. Otherwise: one shard after the other while that is quick. Rows that an index
/// gives in order are merged by its keys at first (KeyMerge), since most queries in order want a few. Not thread-safe.
class Gather {
 public:
  enum class Order { kNone, kSortKeys, kIndex, kIndexBackward };
  Gather(std::vector<std::unique_ptr<ShardPlan>>& shards, Order order);

  /// False at the end. The document is valid until the next call.
  Result<bool> Next(txn::Context& context, bson::View* document);
  /// The shard of the last document.
  storage::ShardNumber shard() const { return shard_; }

 private:
  struct BufferedRow {
    std::string sort_key;
    std::string document;
  };
  struct Source {
    ShardPlan* plan;
    std::deque<BufferedRow> rows;
    size_t bytes = 0;  // of the rows
    bool ended = false;
    Status status;
  };
  bool NeedsRound() const;
  Status Round(txn::Context& context);
  void Fill(txn::Context& context, Source& source) const;
  /// The source with the next row in order; null at the end.
  Source* First();
  Result<bool> NextByKey(txn::Context& context, bson::View* document);

  std::vector<Source> sources_;
  const bool sorted_;
  std::unique_ptr<KeyMerge> by_key_;  // for the first rows; null: in rounds
  size_t given_by_key_ = 0;
  size_t rows_wanted_;
  ShardPulls pulls_;
  BufferedRow current_;
  MemoryCharge charge_{MemoryHolder::kCursors};
  storage::ShardNumber shard_ = 0;
};

}  // namespace braid::query::plan
