// What checkpoints and proofs need of the log.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "braid/chains.h"
#include "braid/checkpoint.h"

namespace braid::settlement {

/// The stored hash of a record, nothing if there is no such record.
Result<std::optional<ChainHash>> HashAt(Clients& clients, const ChainsOptions& options, int64_t chain,
                                        int64_t sequence);

/// Heads of the checkpoint that the log does not have any more, each with what was expected and found; empty if it has
/// all of them. An error: `key` did not sign the checkpoint, or the store failed. Only heads are compared: that the
/// records before them are sound is for Chains::Verify() to say.
Result<std::vector<ChainDamage>> CompareWith(Clients& clients, const ChainsOptions& options,
                                             const Checkpoint& checkpoint, const PublicKey& key);

/// The payloads of a proof, all in memory, have at most so many bytes together; as text it has about twice as many.
inline constexpr size_t kProofPayloadBytesMax = 48u << 20;

/// The proof that a record was in its chain when the checkpoint was made. kBadValue if there is no such record, or if
/// too much came between it and the checkpoint.
Result<InclusionProof> Prove(Chains& chains, const Checkpoint& checkpoint, int64_t chain, int64_t sequence,
                             size_t payload_bytes_max = kProofPayloadBytesMax);

/// The hash that proofs are made and checked with.
Sha256Hash HashOf(const HashedFields& record);

}  // namespace braid::settlement
