// Making, checking and reading checkpoints.
#include "braid/checkpoint.h"

#include <algorithm>

#include "base/strings.h"
#include "patterns/chains/checkpoint_bytes.h"
#include "patterns/chains/checkpoint_json.h"
#include "patterns/chains/merkle.h"
#include "patterns/chains/signing.h"

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
  const auto negative = std::ranges::find_if(input.heads, [](const CheckpointHead& head) { return head.sequence < 0; });
  if (negative != input.heads.end()) {
    return Status(Code::kBadValue, StrCat("chain ", negative->chain, " has the sequence ", negative->sequence));
  }
  Checkpoint checkpoint;
  checkpoint.heads = std::move(input.heads);
  SignedStatement& statement = checkpoint.statement;
  statement.store = std::move(input.store);
  for (const CheckpointHead& head : checkpoint.heads) statement.sequence = std::max(statement.sequence, head.sequence);
  statement.created_at_ms = input.created_at_ms;
  statement.chain_count = static_cast<int64_t>(checkpoint.heads.size());
  BRAID_CHECK_OK(checkpoint_bytes::CheckForm(statement));
  statement.root = merkle::Root(checkpoint_bytes::LeavesOf(checkpoint.heads));
  statement.key_id = key.public_key().Id();
  statement.signature = key.Sign(statement.Bytes());
  return checkpoint;
}

std::string ToJson(const Checkpoint& checkpoint) {
  std::string json = StrCat("{", checkpoint_json::StatementFields(checkpoint.statement), ",\"heads\":[");
  const char* separator = "";
  for (const CheckpointHead& head : checkpoint.heads) {
    json += StrCat(separator, "{\"chain\":", head.chain, ",\"sequence\":", head.sequence, ",\"hash\":\"",
                   signing::HexOf(head.hash), "\"}");
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

}  // namespace braid
