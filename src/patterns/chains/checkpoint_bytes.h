// The leaf of a chain in a checkpoint's Merkle tree, and integers as they stand in signed bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "braid/checkpoint.h"

namespace braid::checkpoint_bytes {

/// Appends the lowest `size` bytes of a value, highest first.
inline void AppendBigEndian(std::string& out, uint64_t value, int size) {
  for (int shift = 8 * (size - 1); shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}

/// The Merkle leaf of a head: the hash of its 48 bytes.
Sha256Hash LeafOf(const CheckpointHead& head);
std::vector<Sha256Hash> LeavesOf(const std::vector<CheckpointHead>& heads);

/// OK if a statement says what some checkpoint could; its signature is not looked at. kUnsupportedFormat, kBadValue.
Status CheckForm(const SignedStatement& statement);

/// OK if the heads are in order and are those that the statement commits to; kChainBroken.
Status CheckHeads(const Checkpoint& checkpoint);

}  // namespace braid::checkpoint_bytes
