// Gather: one stream from the plans of several shards, in the order asked for.
#pragma once

#include <deque>
#include <string>

#include "base/workers.h"
#include "engine/query/plan/shard_plan.h"

namespace braid::query::plan {

/// Pulls the shards in rounds: in a round every shard that has run low hands over some rows, and nothing runs between
/// rounds, so a stream can lie in a cursor. The first shard of a round is pulled on the caller's thread; if that takes
/// long, the others go on in parallel with it (Workers). Sorted: merged by sort key, so every shard has to have a row
/// before the first is given out. Otherwise: one shard after the other while that is quick. Not thread-safe.
class Gather {
 public:
  Gather(std::vector<std::unique_ptr<ShardPlan>>& shards, bool sorted);

  /// False at the end. The document is valid until the next call.
  Result<bool> Next(txn::Context& context, bson::View* document);
  /// Where the last document came from.
  storage::ShardNumber shard() const { return shard_; }

 private:
  struct BufferedRow {
    std::string sort_key;
    std::string document;
  };
  struct Source {
    ShardPlan* plan;
    std::deque<BufferedRow> rows;
    bool ended = false;
    Status status;
  };
  bool NeedsRound() const;
  Status Round(txn::Context& context);
  void Fill(txn::Context& context, Source& source) const;
  /// The source with the next row in order; null at the end.
  Source* First();

  std::vector<Source> sources_;
  const bool sorted_;
  size_t rows_wanted_;
  bool slow_ = false;  // a round took long enough for others to help
  BufferedRow current_;
  storage::ShardNumber shard_ = 0;
};

}  // namespace braid::query::plan
