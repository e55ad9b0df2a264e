// Reading single chains of the log: what checkpoints and proofs need.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "braid/chains.h"
#include "braid/checkpoint.h"

namespace braid::settlement {

/// The records of one chain from a sequence on, in order, until `each` says false. kRecordDamaged if a segment cannot
/// be read.
Status ReadChain(Clients& clients, const ChainsOptions& options, int64_t chain, int64_t from_sequence,
                 const std::function<bool(const ChainRecordView&)>& each);

/// The stored hash of a record, nothing if there is no such record.
Result<std::optional<ChainHash>> HashAt(Clients& clients, const ChainsOptions& options, int64_t chain,
                                        int64_t sequence);

/// Heads of the checkpoint that the log does not have any more, each with what was expected and found; empty if it has
/// all of them. An error: `key` did not sign the checkpoint, or the store failed. Only heads are compared: that the
/// records before them are sound is for Chains::Verify() to say.
Result<std::vector<ChainDamage>> CompareWith(Clients& clients, const ChainsOptions& options,
                                             const Checkpoint& checkpoint, const PublicKey& key);

/// The proof that a record was in its chain when the checkpoint was made. kBadValue if there is no such record.
Result<InclusionProof> Prove(Clients& clients, const ChainsOptions& options, const Checkpoint& checkpoint,
                             int64_t chain, int64_t sequence);

/// The hash that proofs are made and checked with.
Sha256Hash HashOf(const HashedFields& record);

}  // namespace braid::settlement
