// The Merkle tree over a chain: the leaves are the hashes of its records, in their order, so that a proof that a record
// is one of n shows about log2(n) hashes and nothing of any other record.
//
// It is the tree of RFC 6962, section 2.1, but for its leaves: a leaf is the record's hash as it is. The bytes that it
// is made of begin with "braid.chain.v1", those of an inner node with 0x01 (SHA-256 over 0x01, left, right), so neither
// passes for the other. The root over no records is SHA-256 of nothing.
//
// In the store. A chain's head (braid/chains.h) has the field tree: {records, peaks}: the roots of the complete trees
// that so many records are, the largest first, one for each bit of their number. The collection <log>_tree has the
// nodes over 256, 256^2, 256^3 … records, once all of these are there:
//   {_id: "<chain>:<level>:<number, 19 digits>", last_seq, root}
// number counts from 0 on each level, last_seq is the sequence of the node's last record. Both are written by the
// transaction that appends the records. So an append reads nothing for the tree, and a path through it is had from 256
// records and 256 nodes of each level, whatever the chain's length.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace braid {

using ChainHash = std::array<uint8_t, 32>;

/// A node of the tree that is stored.
struct ChainTreeNode {
  static constexpr int kFanOutBits = 8;  ///< a node is over 2^8 of the level below; level 0 are the records
  static constexpr int kLevelMost = 7;

  int level = 1;
  int64_t number = 0;
  int64_t last_sequence = 0;
  ChainHash root{};
  bool operator==(const ChainTreeNode&) const = default;

  /// How many records are under a node of this level.
  static constexpr int64_t RecordsUnder(int level) { return int64_t{1} << (kFanOutBits * level); }
};

/// The tree over the records of a chain so far, as much of it as is needed to go on.
class ChainTree {
 public:
  ChainTree() = default;
  /// As Peaks() gave them; nothing if they are not those of so many records.
  static std::optional<ChainTree> FromPeaks(int64_t records, std::string_view peaks);

  int64_t records() const { return records_; }
  ChainHash Root() const;
  std::string Peaks() const;
  /// Adds the chain's next record; the nodes that are complete with it are added to `complete`.
  void Add(const ChainHash& hash, int64_t sequence, std::vector<ChainTreeNode>& complete);

  bool operator==(const ChainTree&) const = default;

 private:
  int64_t records_ = 0;
  std::vector<ChainHash> peaks_;
};

/// A record and its way to the root over the first so many records of its chain.
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
