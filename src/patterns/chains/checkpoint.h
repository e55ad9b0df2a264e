// The leaf of a chain in a checkpoint's Merkle tree, and integers as they stand in signed bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "braid/checkpoint.h"

namespace braid::checkpoint_bytes {

/// The Merkle leaf of a head: the hash of the bytes that it has in checkpoints of a version.
Sha256Hash LeafOf(const CheckpointHead& head, int64_t version);
std::vector<Sha256Hash> LeavesOf(const std::vector<CheckpointHead>& heads, int64_t version);
/// Version 1 is still read, but no longer written.
inline bool IsKnownVersion(int64_t version) { return version == 1 || version == kCheckpointVersion; }
Status UnknownVersion(int64_t version);

/// OK if the fields of a statement are valid; the signature is not checked. kUnsupportedFormat, kBadValue.
Status CheckForm(const SignedStatement& statement);

/// OK if the heads are in order and are those that the statement commits to; kChainBroken.
Status CheckHeads(const Checkpoint& checkpoint);

}  // namespace braid::checkpoint_bytes
