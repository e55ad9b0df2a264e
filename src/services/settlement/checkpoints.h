// The checkpoints that are kept beside the log, in <log>_checkpoints: {_id, created_at, sequence, chains, key_id,
// checkpoint: <JSON text>}. Convenient, but it is the copy outside the store that proves something.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "braid/chains.h"
#include "braid/checkpoint.h"

namespace braid::settlement {

struct StoredCheckpoint {
  int64_t created_at_ms = 0;
  int64_t sequence = 0;
  int64_t chains = 0;
  std::string key_id;
};

/// Signs the heads as they are now. kRecordDamaged if the log does not have the record that a head names.
Result<Checkpoint> SignHeads(Chains& chains, const SigningKey& key, int64_t now_ms);

/// kBSONObjectTooLarge with more than about 100 000 symbols: such a checkpoint can only be kept as a file.
Status KeepCheckpoint(Clients& clients, const ChainsOptions& options, const Checkpoint& checkpoint);

/// The newest first.
Result<std::vector<StoredCheckpoint>> ListCheckpoints(Clients& clients, const ChainsOptions& options);

/// The newest, if there is one.
Result<std::optional<Checkpoint>> NewestCheckpoint(Clients& clients, const ChainsOptions& options);

}  // namespace braid::settlement
