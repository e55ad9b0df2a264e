// Inclusion proofs: made from a checkpoint and the records from one to its chain's head, checked without either.
#include <algorithm>
#include <functional>

#include "base/strings.h"
#include "braid/checkpoint.h"
#include "patterns/chains/checkpoint_bytes.h"
#include "patterns/chains/checkpoint_json.h"
#include "patterns/chains/merkle.h"
#include "patterns/chains/signing.h"

namespace braid {
namespace {

/// The hash of a record, whose other chains must be in the one order that is hashed.
Result<Sha256Hash> HashOf(const HashedFields& record, const RecordHash& hash_of) {
  const bool ascending = std::ranges::adjacent_find(record.also, std::greater_equal<>()) == record.also.end();
  if (!ascending || std::ranges::find(record.also, record.chain) != record.also.end()) {
    return Status(Code::kChainBroken, StrCat("chain ", record.chain, ", sequence ", record.sequence,
                                             ": the other chains are not ascending, or this one is among them"));
  }
  return hash_of(record);
}

/// The head that the proven record and all later ones lead to.
Result<CheckpointHead> HeadOf(const ProvenRecord& record, const std::vector<LaterRecord>& later,
                              const RecordHash& hash_of) {
  if (record.sequence < 0) return Status(Code::kChainBroken, StrCat("the record has the sequence ", record.sequence));
  BRAID_TRY(Sha256Hash hash, HashOf({.chain = record.chain,
                                     .sequence = record.sequence,
                                     .prev_hash = record.prev_hash,
                                     .also = record.also,
                                     .payload = record.payload},
                                    hash_of));
  CheckpointHead head = {.chain = record.chain, .sequence = record.sequence, .hash = hash};
  for (const LaterRecord& next : later) {
    if (next.sequence <= head.sequence) {
      return Status(Code::kChainBroken, StrCat("chain ", record.chain, ": sequence ", next.sequence,
                                               " cannot follow sequence ", head.sequence));
    }
    BRAID_TRY(head.hash, HashOf({.chain = record.chain,
                                 .sequence = next.sequence,
                                 .prev_hash = head.hash,
                                 .also = next.also,
                                 .payload = next.payload},
                                hash_of));
    head.sequence = next.sequence;
  }
  return head;
}

}  // namespace

Result<InclusionProof> MakeInclusionProof(const Checkpoint& checkpoint, ProvenRecord record,
                                          std::vector<LaterRecord> later, const RecordHash& hash_of) {
  BRAID_CHECK_OK(checkpoint_bytes::CheckForm(checkpoint.statement));
  BRAID_CHECK_OK(checkpoint_bytes::CheckHeads(checkpoint));
  const auto expected = std::ranges::lower_bound(checkpoint.heads, record.chain, {}, &CheckpointHead::chain);
  if (expected == checkpoint.heads.end() || expected->chain != record.chain) {
    return Status(Code::kBadValue, StrCat("the checkpoint has no chain ", record.chain));
  }
  BRAID_TRY(const CheckpointHead head, HeadOf(record, later, hash_of));
  if (head != *expected) {
    return Status(Code::kChainBroken, StrCat("chain ", record.chain, ": the records lead to sequence ", head.sequence,
                                             " with hash ", signing::HexOf(head.hash), ", the checkpoint has sequence ",
                                             expected->sequence, " with hash ", signing::HexOf(expected->hash)));
  }
  const size_t index = static_cast<size_t>(expected - checkpoint.heads.begin());
  InclusionProof proof = {.statement = checkpoint.statement,
                          .record = std::move(record),
                          .later = std::move(later),
                          .head_index = static_cast<int64_t>(index),
                          .path = merkle::Path(checkpoint_bytes::LeavesOf(checkpoint.heads), index)};
  if (const size_t size = ToJson(proof).size(); size > checkpoint_json::kTextBytesMax) {
    return Status(Code::kInvalidLength, StrCat("the proof has ", size, " bytes as JSON; at most ",
                                               checkpoint_json::kTextBytesMax, " can be read"));
  }
  return proof;
}

Status VerifyInclusion(const InclusionProof& proof, const PublicKey& key, const RecordHash& hash_of) {
  BRAID_CHECK_OK(proof.statement.Verify(key));
  BRAID_TRY(const CheckpointHead head, HeadOf(proof.record, proof.later, hash_of));
  if (proof.head_index < 0) return Status(Code::kChainBroken, StrCat("there is no chain number ", proof.head_index));
  const merkle::Position position = {.index = static_cast<uint64_t>(proof.head_index),
                                     .leaf_count = static_cast<uint64_t>(proof.statement.chain_count)};
  BRAID_TRY(const Sha256Hash root, merkle::RootFromPath(checkpoint_bytes::LeafOf(head), position, proof.path));
  if (root != proof.statement.root) {
    return Status(Code::kChainBroken, StrCat("chain ", proof.record.chain, ", sequence ", proof.record.sequence,
                                             ": the proof leads to the root ", signing::HexOf(root),
                                             ", the checkpoint has ", signing::HexOf(proof.statement.root)));
  }
  return Status();
}

}  // namespace braid
