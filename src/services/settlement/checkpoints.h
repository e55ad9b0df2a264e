// Checkpoints of the log: making them from the heads, comparing the log with them, proving records by them. Those that
// are kept beside the log are in <log>_checkpoints: {_id, created_at, sequence, chains, key_id, checkpoint: <JSON
// text>}. That is convenient, but only a copy outside the store is a proof.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "braid/chains.h"
#include "braid/checkpoint.h"

namespace braid::settlement {

/// The stored hash of a record, nothing if there is no such record.
Result<std::optional<ChainHash>> HashAt(Clients& clients, const ChainsOptions& options, int64_t chain,
                                        int64_t sequence);

/// Heads of the checkpoint that the log does not have any more, each with what was expected and found; empty if it has
/// all of them. An error means that `key` did not sign the checkpoint, or that the store failed. Only heads and the
/// roots of trees are compared: Chains::Verify() checks the records before them.
Result<std::vector<ChainDamage>> CompareWith(Chains& chains, const Checkpoint& checkpoint, const PublicKey& key);

/// The proof that a record was in its chain when the checkpoint was made. kBadValue if there is no such record.
Result<InclusionProof> Prove(Chains& chains, const Checkpoint& checkpoint, int64_t chain, int64_t sequence);

/// The hash that proofs are made and checked with.
Sha256Hash HashOf(const HashedFields& record);

struct StoredCheckpoint {
  int64_t created_at_ms = 0;
  int64_t sequence = 0;
  int64_t chains = 0;
  std::string key_id;
};

/// Signs the heads as they are now. kRecordDamaged if the log does not have the record that a head names,
/// kIllegalOperation if a chain has no tree.
Result<Checkpoint> SignHeads(Chains& chains, const SigningKey& key, int64_t now_ms);

/// kBSONObjectTooLarge with more than about 70 000 symbols: such a checkpoint can only be kept as a file.
Status KeepCheckpoint(Clients& clients, const ChainsOptions& options, const Checkpoint& checkpoint);

/// The newest first.
Result<std::vector<StoredCheckpoint>> ListCheckpoints(Clients& clients, const ChainsOptions& options);

/// The newest, if there is one.
Result<std::optional<Checkpoint>> NewestCheckpoint(Clients& clients, const ChainsOptions& options);

}  // namespace braid::settlement
