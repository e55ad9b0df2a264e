// Inclusion proofs: making them from a checkpoint and a record's place in its chain's tree, checking them without
// either, and their JSON.
#include <algorithm>
#include <functional>

#include "base/strings.h"
#include "braid/checkpoint.h"
#include "patterns/chains/checkpoint.h"
#include "patterns/chains/merkle.h"
#include "patterns/chains/signing.h"

namespace braid {
namespace {

/// The hash of a record, whose other chains must be ascending, as they are hashed.
Result<Sha256Hash> HashOfProven(const ProvenRecord& record, const RecordHash& hash_of) {
  if (record.sequence < 0) return Status(Code::kChainBroken, StrCat("the record has the sequence ", record.sequence));
  const bool ascending = std::ranges::adjacent_find(record.also, std::greater_equal<>()) == record.also.end();
  if (!ascending || std::ranges::find(record.also, record.chain) != record.also.end()) {
    return Status(Code::kChainBroken, StrCat("chain ", record.chain, ", sequence ", record.sequence,
                                             ": the other chains are not ascending, or this one is among them"));
  }
  return hash_of({.chain = record.chain,
                  .sequence = record.sequence,
                  .prev_hash = record.prev_hash,
                  .also = record.also,
                  .payload = record.payload});
}

Result<Sha256Hash> RootUp(const Sha256Hash& leaf, int64_t index, int64_t count, std::span<const Sha256Hash> path) {
  if (index < 0 || count < 0) {
    return Status(Code::kChainBroken, StrCat("there is no number ", index, " of ", count));
  }
  return merkle::RootFromPath(leaf, {.index = static_cast<uint64_t>(index), .leaf_count = static_cast<uint64_t>(count)},
                              path);
}

/// The chain's leaf in the checkpoint that the record leads to.
Result<Sha256Hash> HeadLeafOf(const InclusionProof& proof, const RecordHash& hash_of) {
  BRAID_TRY(const Sha256Hash leaf, HashOfProven(proof.record, hash_of));
  BRAID_TRY(const Sha256Hash tree, RootUp(leaf, proof.record_index, proof.records, proof.record_path));
  return checkpoint_bytes::LeafOf({.chain = proof.record.chain,
                                   .sequence = proof.head_sequence,
                                   .hash = proof.head_hash,
                                   .records = proof.records,
                                   .tree = tree},
                                  proof.statement.version);
}

Status WithoutTrees() {
  return Status(Code::kUnsupportedFormat,
                "the checkpoint is of version 1, which has no trees to prove records with; a new one has them");
}

std::string HashesAsJson(const std::vector<Sha256Hash>& hashes) {
  std::string json = "[";
  for (const Sha256Hash& hash : hashes) json += StrCat(json.size() == 1 ? "" : ",", "\"", signing::HexOf(hash), "\"");
  return json + "]";
}

}  // namespace

Result<InclusionProof> MakeInclusionProof(const Checkpoint& checkpoint, ProvenRecord record, RecordPlace place,
                                          const RecordHash& hash_of) {
  BRAID_CHECK_OK(checkpoint_bytes::CheckForm(checkpoint.statement));
  if (checkpoint.statement.version == 1) return WithoutTrees();
  BRAID_CHECK_OK(checkpoint_bytes::CheckHeads(checkpoint));
  const auto head = std::ranges::lower_bound(checkpoint.heads, record.chain, {}, &CheckpointHead::chain);
  if (head == checkpoint.heads.end() || head->chain != record.chain) {
    return Status(Code::kBadValue, StrCat("the checkpoint has no chain ", record.chain));
  }
  BRAID_TRY(const Sha256Hash leaf, HashOfProven(record, hash_of));
  BRAID_TRY(const Sha256Hash tree, RootUp(leaf, place.index, head->records, place.path));
  if (tree != head->tree) {
    return Status(Code::kChainBroken,
                  StrCat("chain ", record.chain, ", sequence ", record.sequence, ": the record leads to the root ",
                         signing::HexOf(tree), " over ", head->records, " records, the checkpoint has ",
                         signing::HexOf(head->tree)));
  }
  const size_t index = static_cast<size_t>(head - checkpoint.heads.begin());
  return InclusionProof{
      .statement = checkpoint.statement,
      .record = std::move(record),
      .record_index = place.index,
      .record_path = std::move(place.path),
      .head_sequence = head->sequence,
      .head_hash = head->hash,
      .records = head->records,
      .head_index = static_cast<int64_t>(index),
      .head_path = merkle::Path(checkpoint_bytes::LeavesOf(checkpoint.heads, checkpoint.statement.version), index)};
}

Status VerifyInclusion(const InclusionProof& proof, const PublicKey& key, const RecordHash& hash_of) {
  BRAID_CHECK_OK(proof.statement.Verify(key));
  if (proof.statement.version == 1) return WithoutTrees();
  BRAID_TRY(const Sha256Hash leaf, HeadLeafOf(proof, hash_of));
  BRAID_TRY(const Sha256Hash root, RootUp(leaf, proof.head_index, proof.statement.chain_count, proof.head_path));
  if (root != proof.statement.root) {
    return Status(Code::kChainBroken, StrCat("chain ", proof.record.chain, ", sequence ", proof.record.sequence,
                                             ": the proof leads to the root ", signing::HexOf(root),
                                             ", the checkpoint has ", signing::HexOf(proof.statement.root)));
  }
  return Status();
}

std::string ToJson(const InclusionProof& proof) {
  const ProvenRecord& record = proof.record;
  std::string also;
  for (const int64_t other : record.also) also += StrCat(also.empty() ? "" : ",", other);
  return StrCat("{\"checkpoint\":{", checkpoint_json::StatementFields(proof.statement),
                "},\"record\":{\"chain\":", record.chain, ",\"sequence\":", record.sequence, ",\"prev_hash\":\"",
                signing::HexOf(record.prev_hash), "\",\"also\":[", also, "],\"payload\":\"", Hex(record.payload),
                "\"},\"record_index\":", proof.record_index, ",\"record_path\":", HashesAsJson(proof.record_path),
                ",\"head\":{\"sequence\":", proof.head_sequence, ",\"hash\":\"", signing::HexOf(proof.head_hash),
                "\",\"records\":", proof.records, "},\"head_index\":", proof.head_index,
                ",\"head_path\":", HashesAsJson(proof.head_path), "}");
}

Result<InclusionProof> ParseInclusionProof(std::string_view json) {
  using Reader = checkpoint_json::ObjectReader;
  InclusionProof proof;
  BRAID_CHECK_OK(checkpoint_json::ReadText(json, [&](Reader& reader) {
    reader.Object("checkpoint", [&](Reader& fields) { checkpoint_json::ReadStatement(fields, proof.statement); });
    if (reader.ok() && proof.statement.version == 1) {
      return reader.Fail(Status(Code::kUnsupportedFormat,
                                "a proof of version 1, which carries all later records, is not read any more: a new "
                                "one has to be made, with a checkpoint of version 2"));
    }
    reader.Object("record", [&](Reader& fields) {
      fields.Integer("chain", proof.record.chain);
      fields.Integer("sequence", proof.record.sequence);
      fields.Hexadecimal("prev_hash", proof.record.prev_hash);
      fields.Integers("also", proof.record.also);
      fields.Hexadecimal("payload", proof.record.payload);
    });
    reader.Integer("record_index", proof.record_index);
    reader.Hashes("record_path", proof.record_path);
    reader.Object("head", [&](Reader& fields) {
      fields.Integer("sequence", proof.head_sequence);
      fields.Hexadecimal("hash", proof.head_hash);
      fields.Integer("records", proof.records);
    });
    reader.Integer("head_index", proof.head_index);
    reader.Hashes("head_path", proof.head_path);
  }));
  return proof;
}

}  // namespace braid
