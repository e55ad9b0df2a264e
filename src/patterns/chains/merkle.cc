// Merkle trees over hashed leaves (merkle.h), and ChainTree: the same tree over a chain's records, which grows by one
// leaf at a time and keeps its peaks only (braid/chain_tree.h).
#include "patterns/chains/merkle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "base/assert.h"
#include "base/strings.h"
#include "braid/chain_tree.h"
#include "patterns/chains/hash.h"

namespace braid::merkle {
namespace {

constexpr char kLeafPrefix = 0;
constexpr char kNodePrefix = 1;

/// How many of `count` leaves are in the left half: the largest power of two below count. count > 1.
uint64_t LeftCount(uint64_t count) { return std::bit_floor(count - 1); }

}  // namespace

Sha256Hash Sha256(std::string_view bytes) {
  thread_local chains::Sha256Stream sha;
  sha.Begin();
  sha.Add(bytes.data(), bytes.size());
  return sha.End();
}

Sha256Hash NodeHash(const Sha256Hash& left, const Sha256Hash& right) {
  std::array<char, 1 + 2 * sizeof(Sha256Hash)> bytes;
  bytes[0] = kNodePrefix;
  std::copy(left.begin(), left.end(), bytes.begin() + 1);
  std::copy(right.begin(), right.end(), bytes.begin() + 1 + sizeof(Sha256Hash));
  return Sha256({bytes.data(), bytes.size()});
}

Sha256Hash LeafHash(std::string_view bytes) {
  std::string prefixed(1, kLeafPrefix);
  prefixed += bytes;
  return Sha256(prefixed);
}

Sha256Hash Root(std::span<const Sha256Hash> leaves) {
  if (leaves.empty()) return Sha256("");
  if (leaves.size() == 1) return leaves[0];
  const size_t left = LeftCount(leaves.size());
  return NodeHash(Root(leaves.first(left)), Root(leaves.subspan(left)));
}

std::vector<Sha256Hash> Path(std::span<const Sha256Hash> leaves, size_t index) {
  BRAID_ASSERT(index < leaves.size());
  if (leaves.size() == 1) return {};
  const size_t left = LeftCount(leaves.size());
  const bool is_left = index < left;
  std::vector<Sha256Hash> path = is_left ? Path(leaves.first(left), index) : Path(leaves.subspan(left), index - left);
  path.push_back(Root(is_left ? leaves.subspan(left) : leaves.first(left)));
  return path;
}

Result<Sha256Hash> RootFromPath(const Sha256Hash& leaf, Position position, std::span<const Sha256Hash> path) {
  if (position.index >= position.leaf_count) {
    return Status(Code::kChainBroken,
                  StrCat("there is no leaf ", position.index, " in a tree of ", position.leaf_count, " leaves"));
  }
  std::vector<bool> goes_left;  // from the root down: which half has the leaf
  for (uint64_t index = position.index, count = position.leaf_count; count > 1;) {
    const uint64_t left = LeftCount(count);
    goes_left.push_back(index < left);
    count = index < left ? left : count - left;
    if (index >= left) index -= left;
  }
  if (path.size() != goes_left.size()) {
    return Status(Code::kChainBroken, StrCat("the path of leaf ", position.index, " in a tree of ", position.leaf_count,
                                             " leaves has ", goes_left.size(), " hashes, not ", path.size()));
  }
  Sha256Hash hash = leaf;
  for (const Sha256Hash& sibling : path) {
    hash = goes_left.back() ? NodeHash(hash, sibling) : NodeHash(sibling, hash);
    goes_left.pop_back();
  }
  return hash;
}

}  // namespace braid::merkle

namespace braid {

std::optional<ChainTree> ChainTree::FromPeaks(int64_t records, std::string_view peaks) {
  if (records < 0) return std::nullopt;
  ChainTree tree;
  tree.records_ = records;
  tree.peaks_.resize(static_cast<size_t>(std::popcount(static_cast<uint64_t>(records))));
  if (peaks.size() != tree.peaks_.size() * sizeof(ChainHash)) return std::nullopt;
  for (size_t i = 0; i < tree.peaks_.size(); ++i) {
    std::copy_n(peaks.data() + i * sizeof(ChainHash), sizeof(ChainHash), tree.peaks_[i].begin());
  }
  return tree;
}

std::string ChainTree::Peaks() const {
  std::string bytes;
  bytes.reserve(peaks_.size() * sizeof(ChainHash));
  for (const ChainHash& peak : peaks_) bytes.append(chains::TextOf(peak));
  return bytes;
}

ChainHash ChainTree::Root() const {
  if (peaks_.empty()) return merkle::Sha256("");
  ChainHash root = peaks_.back();
  for (size_t i = peaks_.size() - 1; i > 0; --i) root = merkle::NodeHash(peaks_[i - 1], root);
  return root;
}

// As in binary counting: each trailing 1 bit is carried, which merges two trees of the same size into one.
void ChainTree::Add(const ChainHash& hash, int64_t sequence, std::vector<ChainTreeNode>& complete) {
  ChainHash node = hash;
  const int carries = std::countr_one(static_cast<uint64_t>(records_));
  ++records_;
  for (int height = 1; height <= carries; ++height) {
    node = merkle::NodeHash(peaks_.back(), node);
    peaks_.pop_back();
    if (height % ChainTreeNode::kFanOutBits != 0) continue;
    complete.push_back({.level = height / ChainTreeNode::kFanOutBits,
                        .number = (records_ >> height) - 1,
                        .last_sequence = sequence,
                        .root = node});
  }
  peaks_.push_back(node);
  BRAID_ASSERT(peaks_.size() == static_cast<size_t>(std::popcount(static_cast<uint64_t>(records_))));
}

}  // namespace braid
