// The Merkle tree over a chain: the leaves are the hashes of its records, in their order, so that a proof that a record
// is one of n shows about log2(n) hashes and nothing of any other record.
//
// It is the tree of RFC 6962, section 2.1, except for its leaves: a leaf is the record's hash, which is not hashed
// again. The bytes that are hashed for a record begin with "braid.chain.v1", those of an inner node with 0x01 (SHA-256
// over 0x01, left, right), so a leaf cannot be mistaken for a node or the reverse. The root of an empty tree is the
// SHA-256 of the empty string.
//
// In the store. A chain's head (braid/chains.h) has the field tree: {records, peaks}. The peaks are the roots of the
// complete subtrees, largest first, one for each set bit of the number of records. The collection <log>_tree has the
// nodes over 256, 256^2, 256^3 … records, each stored once all of its records are:
//   {_id: "<chain>:<level>:<number, 19 digits>", last_seq, root}
// number counts from 0 on each level, last_seq is the sequence of the node's last record. Both are written by the
// transaction that appends the records. So an append reads nothing for the tree, and a path needs at most 256 records
// and 256 nodes of each level, however long the chain is.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace braid {

using ChainHash = std::array<uint8_t, 32>;

/// A stored node of the tree.
struct ChainTreeNode {
  static constexpr int kFanOutBits = 8;  ///< a node covers 2^8 nodes of the level below; level 0 is the records
  static constexpr int kLevelMost = 7;

  int level = 1;
  int64_t number = 0;
  int64_t last_sequence = 0;
  ChainHash root{};
  bool operator==(const ChainTreeNode&) const = default;

  /// The number of records under a node of this level.
  static constexpr int64_t RecordsUnder(int level) { return int64_t{1} << (kFanOutBits * level); }
};

/// The tree over the records of a chain so far: only the peaks, which are all that is needed to append.
class ChainTree {
 public:
  ChainTree() = default;
  /// Restores a tree from what Peaks() returned; nothing if the number of peaks does not match `records`.
  static std::optional<ChainTree> FromPeaks(int64_t records, std::string_view peaks);

  int64_t records() const { return records_; }
  ChainHash Root() const;
  std::string Peaks() const;
  /// Adds the chain's next record; nodes that it completes are added to `complete`.
  void Add(const ChainHash& hash, int64_t sequence, std::vector<ChainTreeNode>& complete);

  bool operator==(const ChainTree&) const = default;

 private:
  int64_t records_ = 0;
  std::vector<ChainHash> peaks_;
};

/// A record and its path to the root of the tree over the first `records` records of its chain.
struct ChainPlace {
  int64_t sequence = 0;
  ChainHash prev_hash{};
  ChainHash hash{};
  std::vector<int64_t> also;
  std::string payload;
  int64_t index = 0;            ///< the number of records before it
  std::vector<ChainHash> path;  ///< siblings from the leaf upwards
};

}  // namespace braid
