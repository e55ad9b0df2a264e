// Batches: the part of a result that goes into one reply, and the cursor that keeps the rest.
#pragma once

#include "engine/commands/command.h"
#include "engine/commands/cursors.h"

namespace braid::commands {

constexpr size_t kBatchBytesMax = 16u << 20;

struct BatchOptions {
  int64_t documents_max = 101;  // 0 is an empty batch
  bool single_batch = false;    // the rest is discarded
};

/// {cursor: {firstBatch: […], id, ns}} of a new result. `cursor` holds stream, namespace and session; it is registered
/// if there may be more documents.
Result<bson::Document> FirstBatch(Call& call, std::unique_ptr<OpenCursor> cursor, const BatchOptions& options);
/// {cursor: {nextBatch: […], id, ns}} of a cursor that was taken from the table.
Result<bson::Document> NextBatch(Call& call, std::unique_ptr<OpenCursor> cursor, int64_t documents_max);

/// A stream over documents at hand: listCollections, listIndexes, reports.
class ListStream final : public query::Stream {
 public:
  explicit ListStream(std::vector<bson::Document> documents) : documents_(std::move(documents)) {}
  Result<bool> Next(txn::Context&, bson::View* document) override {
    if (next_ == documents_.size()) return false;
    *document = documents_[next_++];
    return true;
  }

 private:
  std::vector<bson::Document> documents_;
  size_t next_ = 0;
};

/// A first batch over documents at hand, with the command's `cursor: {batchSize}` option.
Result<bson::Document> ListReply(Call& call, catalog::Namespace ns, std::string ns_shown,
                                 std::vector<bson::Document> documents, const std::optional<bson::View>& cursor_option);
/// The batchSize of a `cursor: {batchSize: n}` option; 101 by default.
Result<int64_t> BatchSizeOf(const std::optional<bson::View>& cursor_option);

}  // namespace braid::commands
