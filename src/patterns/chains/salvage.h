// Reading a chain past places that the store cannot read any more: its files are damaged.
#pragma once

#include <functional>
#include <string_view>

#include "braid/chains.h"
#include "client/handles.h"

namespace braid::chains {

/// What becomes of the segments of a chain, in the order of last_seq.
struct SalvageTarget {
  std::function<void(const bson_t&)> on_segment;
  /// Records after one sequence and up to another (0: to the end) cannot be read.
  std::function<void(int64_t after, int64_t last, std::string_view why)> on_lost;
  /// Segments are found by _id instead.
  std::function<void(std::string_view why)> on_index_lost;
};

/// Reads the segments that end after a sequence one by one, each by its entry in the index, so that only those are lost
/// that lie in a damaged place. Without the index they are found by _id. An error: the store failed in another way.
Status Salvage(mongoc_client_t* client, const ChainsOptions& options, int64_t chain, int64_t after,
               const SalvageTarget& target);

/// Whether a read failed because of a damaged file, and others may succeed.
inline bool IsLost(const Status& status) { return status.code() == Code::kStorageCorrupt; }

}  // namespace braid::chains
