// Making, checking and reading checkpoints.
#include "patterns/chains/checkpoint.h"

#include <algorithm>

#include "base/big_endian.h"
#include "base/strings.h"
#include "braid/checkpoint.h"
#include "patterns/chains/merkle.h"
#include "patterns/chains/signing.h"

namespace braid::checkpoint_bytes {
namespace {

constexpr size_t kStoreBytesMax = 1024;

Status Broken(const std::string& message) { return Status(Code::kChainBroken, message); }

Status CheckOrder(const std::vector<CheckpointHead>& heads) {
  for (size_t i = 0; i < heads.size(); ++i) {
    const CheckpointHead& head = heads[i];
    if (head.sequence < 0) return Broken(StrCat("chain ", head.chain, " has the sequence ", head.sequence));
    if (head.records < 0) return Broken(StrCat("chain ", head.chain, " has ", head.records, " records"));
    if (i == 0 || heads[i - 1].chain < head.chain) continue;
    if (heads[i - 1].chain == head.chain) return Broken(StrCat("chain ", head.chain, " is there twice"));
    return Broken(StrCat("heads are not sorted: chain ", head.chain, " follows chain ", heads[i - 1].chain));
  }
  return Status();
}

}  // namespace

Sha256Hash LeafOf(const CheckpointHead& head, int64_t version) {
  std::string bytes;
  big_endian::Append(bytes, static_cast<uint64_t>(head.chain), 8);
  big_endian::Append(bytes, static_cast<uint64_t>(head.sequence), 8);
  bytes.append(head.hash.begin(), head.hash.end());
  if (version > 1) {
    big_endian::Append(bytes, static_cast<uint64_t>(head.records), 8);
    bytes.append(head.tree.begin(), head.tree.end());
  }
  return merkle::LeafHash(bytes);
}

std::vector<Sha256Hash> LeavesOf(const std::vector<CheckpointHead>& heads, int64_t version) {
  std::vector<Sha256Hash> leaves(heads.size());
  std::ranges::transform(heads, leaves.begin(), [&](const CheckpointHead& head) { return LeafOf(head, version); });
  return leaves;
}

Status UnknownVersion(int64_t version) {
  return Status(Code::kUnsupportedFormat,
                StrCat("version ", version, " is not known, only 1 and ", kCheckpointVersion));
}

Status CheckForm(const SignedStatement& statement) {
  if (!IsKnownVersion(statement.version)) return UnknownVersion(statement.version);
  const std::string& store = statement.store;
  if (store.empty() || store.size() > kStoreBytesMax || !IsUtf8(store) || store.find('\0') != std::string::npos) {
    return Status(Code::kBadValue, StrCat("store: must be 1 to ", kStoreBytesMax, " bytes of UTF-8 without NUL"));
  }
  if (statement.sequence < 0) return Status(Code::kBadValue, StrCat("sequence: is ", statement.sequence));
  if (statement.chain_count < 0 || statement.chain_count > static_cast<int64_t>(kCheckpointChainsMax)) {
    return Status(Code::kBadValue,
                  StrCat("chains: is ", statement.chain_count, ", must be 0 to ", kCheckpointChainsMax));
  }
  return Status();
}

Status CheckHeads(const Checkpoint& checkpoint) {
  const SignedStatement& statement = checkpoint.statement;
  const std::vector<CheckpointHead>& heads = checkpoint.heads;
  BRAID_CHECK_OK(CheckOrder(heads));
  if (static_cast<size_t>(statement.chain_count) != heads.size()) {
    return Broken(StrCat("the statement is about ", statement.chain_count, " chains, but there are ", heads.size()));
  }
  const int64_t highest = heads.empty() ? 0 : std::ranges::max(heads, {}, &CheckpointHead::sequence).sequence;
  if (statement.sequence != highest) {
    return Broken(StrCat("the statement says sequence ", statement.sequence, ", the highest head is ", highest));
  }
  const Sha256Hash root = merkle::Root(LeavesOf(heads, statement.version));
  if (root != statement.root) {
    return Broken(StrCat("the heads give the root ", signing::HexOf(root), ", the statement says ",
                         signing::HexOf(statement.root)));
  }
  return Status();
}

}  // namespace braid::checkpoint_bytes

namespace braid {
namespace {

/// How many changed chains a message names.
constexpr size_t kChangesNamedMax = 10;

}  // namespace

Status SignedStatement::Verify(const PublicKey& key) const {
  BRAID_CHECK_OK(checkpoint_bytes::CheckForm(*this));
  if (key_id != key.Id()) {
    return Status(Code::kAuthenticationFailed,
                  StrCat("the checkpoint names the key ", key_id, ", but was checked with the key ", key.Id()));
  }
  if (!key.Verify(Bytes(), signature)) {
    return Status(Code::kAuthenticationFailed,
                  StrCat("the checkpoint's signature is not one by the key ", key_id, " over what it says"));
  }
  return Status();
}

Status Checkpoint::Verify(const PublicKey& key) const {
  BRAID_CHECK_OK(statement.Verify(key));
  return checkpoint_bytes::CheckHeads(*this);
}

Result<Checkpoint> MakeCheckpoint(CheckpointInput input, const SigningKey& key) {
  std::ranges::sort(input.heads, {}, &CheckpointHead::chain);
  const auto twice = std::ranges::adjacent_find(input.heads, {}, &CheckpointHead::chain);
  if (twice != input.heads.end()) return Status(Code::kBadValue, StrCat("chain ", twice->chain, " has two heads"));
  const auto negative = std::ranges::find_if(
      input.heads, [](const CheckpointHead& head) { return head.sequence < 0 || head.records < 0; });
  if (negative != input.heads.end()) {
    return Status(Code::kBadValue, StrCat("chain ", negative->chain, " has the sequence ", negative->sequence, " and ",
                                          negative->records, " records"));
  }
  Checkpoint checkpoint;
  checkpoint.heads = std::move(input.heads);
  SignedStatement& statement = checkpoint.statement;
  statement.store = std::move(input.store);
  for (const CheckpointHead& head : checkpoint.heads) statement.sequence = std::max(statement.sequence, head.sequence);
  statement.created_at_ms = input.created_at_ms;
  statement.chain_count = static_cast<int64_t>(checkpoint.heads.size());
  BRAID_CHECK_OK(checkpoint_bytes::CheckForm(statement));
  statement.root = merkle::Root(checkpoint_bytes::LeavesOf(checkpoint.heads, statement.version));
  statement.key_id = key.public_key().Id();
  statement.signature = key.Sign(statement.Bytes());
  return checkpoint;
}

std::string ToJson(const Checkpoint& checkpoint) {
  std::string json = StrCat("{", checkpoint_json::StatementFields(checkpoint.statement), ",\"heads\":[");
  const char* separator = "";
  for (const CheckpointHead& head : checkpoint.heads) {
    json += StrCat(separator, "{\"chain\":", head.chain, ",\"sequence\":", head.sequence, ",\"hash\":\"",
                   signing::HexOf(head.hash), "\"");
    if (checkpoint.statement.version > 1) {
      json += StrCat(",\"records\":", head.records, ",\"tree\":\"", signing::HexOf(head.tree), "\"");
    }
    json += "}";
    separator = ",";
  }
  return json + "]}";
}

Result<Checkpoint> ParseCheckpoint(std::string_view json) {
  Checkpoint checkpoint;
  BRAID_CHECK_OK(checkpoint_json::ReadText(json, [&](checkpoint_json::ObjectReader& reader) {
    checkpoint_json::ReadStatement(reader, checkpoint.statement);
    reader.Objects("heads", [&](checkpoint_json::ObjectReader& fields) {
      CheckpointHead& head = checkpoint.heads.emplace_back();
      fields.Integer("chain", head.chain);
      fields.Integer("sequence", head.sequence);
      fields.Hexadecimal("hash", head.hash);
      if (checkpoint.statement.version == 1) return;
      fields.Integer("records", head.records);
      fields.Hexadecimal("tree", head.tree);
    });
  }));
  if (const Status s = checkpoint_bytes::CheckForm(checkpoint.statement); !s.ok()) {
    return Status(Code::kFailedToParse, std::string(s.message()));
  }
  BRAID_CHECK_OK(checkpoint_bytes::CheckHeads(checkpoint));
  return checkpoint;
}

Status CheckAgainst(const Checkpoint& checkpoint, const PublicKey& key, const HashLookup& now) {
  BRAID_CHECK_OK(checkpoint.Verify(key));
  size_t changes = 0;
  std::string message;
  for (const CheckpointHead& head : checkpoint.heads) {
    BRAID_TRY(const std::optional<Sha256Hash> found, now(head.chain, head.sequence));
    if (found == head.hash) continue;
    if (++changes > kChangesNamedMax) continue;
    message += StrCat(changes == 1 ? "" : "; ", "chain ", head.chain, ", sequence ", head.sequence, ": expected ",
                      signing::HexOf(head.hash), ", found ", found ? signing::HexOf(*found) : "no record");
  }
  if (changes == 0) return Status();
  return Status(Code::kChainBroken, StrCat("history was changed in ", changes, " of ", checkpoint.heads.size(),
                                           " chains since the checkpoint: ", message));
}

std::string SignedStatement::Bytes() const {
  std::string bytes = "braid checkpoint";
  big_endian::Append(bytes, static_cast<uint64_t>(version), 4);
  big_endian::Append(bytes, static_cast<uint64_t>(sequence), 8);
  big_endian::Append(bytes, static_cast<uint64_t>(created_at_ms), 8);
  big_endian::Append(bytes, static_cast<uint64_t>(chain_count), 8);
  bytes.append(root.begin(), root.end());
  big_endian::Append(bytes, store.size(), 4);
  return bytes + store;
}

}  // namespace braid
