// Reading the log: the segments of a chain in order, also past places that the store cannot read any more, and which
// chains there are.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "braid/chains.h"
#include "client/handles.h"

namespace braid::chains {

struct SegmentQuery {
  int64_t chain = 0;
  int64_t from_sequence = 0;  ///< segments that end here or later; 0 for all, even with a last_seq that is no number
  int64_t limit = 0;          ///< 0: no limit
};

/// The segments of a chain one after another, in the order of last_seq. One thread at a time; must not outlive the
/// client.
class SegmentCursor {
 public:
  SegmentCursor(mongoc_client_t* client, const ChainsOptions& options, const SegmentQuery& query);
  /// The next document, which lives until the next call; null at the end.
  Result<const bson_t*> Next();

 private:
  client::CursorPtr cursor_;
  bool at_end_ = false;
  int64_t documents_ = 0;
  int64_t bytes_ = 0;
};

/// Calls `each` with every document found; its error ends the walk.
Status Find(const client::CollectionPtr& collection, const client::Bson& filter, const client::Bson& opts,
            const std::function<Status(const bson_t&)>& each);

/// Calls `each` in the order of last_seq; its error ends the walk.
Status FindSegments(mongoc_client_t* client, const ChainsOptions& options, const SegmentQuery& query,
                    const std::function<Status(const bson_t&)>& each);

/// Every chain that has a segment, ascending (C5: discovered, not assumed).
Result<std::vector<int64_t>> ChainsInLog(mongoc_client_t* client, const ChainsOptions& options);

/// Every chain whose head says that it has records.
Result<std::vector<int64_t>> ChainsWithHead(mongoc_client_t* client, const ChainsOptions& options,
                                            const std::string& heads);

/// Receives the segments of a chain, in the order of last_seq.
struct SalvageTarget {
  std::function<void(const bson_t&)> on_segment;
  /// Records after one sequence and up to another (0: to the end) cannot be read.
  std::function<void(int64_t after, int64_t last, std::string_view why)> on_lost;
  /// Segments are found by _id instead.
  std::function<void(std::string_view why)> on_index_lost;
};

/// Reads the segments that end after a sequence one by one, each by its entry in the index, so that only segments in a
/// damaged place are lost. Without the index they are found by _id. An error means that the store failed in another
/// way.
Status Salvage(mongoc_client_t* client, const ChainsOptions& options, int64_t chain, int64_t after,
               const SalvageTarget& target);

/// Whether a read failed because of a damaged file, and others may succeed.
inline bool IsLost(const Status& status) { return status.code() == Code::kStorageCorrupt; }

}  // namespace braid::chains
