// Reading the log: the segments of a chain in order, and which chains there are.
#pragma once

#include <functional>
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

}  // namespace braid::chains
