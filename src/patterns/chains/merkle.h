// Merkle trees as in RFC 6962, section 2.1: leaves and inner nodes are hashed with different prefixes, so that one
// cannot be mistaken for the other, and an odd node is carried up, never doubled, so that no two lists have the same
// root.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "braid/checkpoint.h"

namespace braid::merkle {

Sha256Hash Sha256(std::string_view bytes);

/// SHA-256(0x00 | bytes).
Sha256Hash LeafHash(std::string_view bytes);

/// SHA-256(0x01 | left | right).
Sha256Hash NodeHash(const Sha256Hash& left, const Sha256Hash& right);

/// The root over hashed leaves; that of no leaves is SHA-256 of nothing.
Sha256Hash Root(std::span<const Sha256Hash> leaves);

/// The siblings of leaf `index` from the leaf upwards; index < leaves.size().
std::vector<Sha256Hash> Path(std::span<const Sha256Hash> leaves, size_t index);

struct Position {
  uint64_t index = 0;
  uint64_t leaf_count = 0;
};

/// The root that follows from a leaf and its path. kChainBroken if a tree of that size has no such leaf, or the path
/// has the wrong length for that leaf.
Result<Sha256Hash> RootFromPath(const Sha256Hash& leaf, Position position, std::span<const Sha256Hash> path);

}  // namespace braid::merkle
