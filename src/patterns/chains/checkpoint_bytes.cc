#include "patterns/chains/checkpoint_bytes.h"

#include <algorithm>

#include "base/strings.h"
#include "patterns/chains/merkle.h"
#include "patterns/chains/signing.h"

namespace braid {
namespace checkpoint_bytes {
namespace {

constexpr size_t kStoreBytesMax = 1024;

Status Broken(const std::string& message) { return Status(Code::kChainBroken, message); }

Status CheckOrder(const std::vector<CheckpointHead>& heads) {
  for (size_t i = 0; i < heads.size(); ++i) {
    const CheckpointHead& head = heads[i];
    if (head.sequence < 0) return Broken(StrCat("chain ", head.chain, " has the sequence ", head.sequence));
    if (i == 0 || heads[i - 1].chain < head.chain) continue;
    if (heads[i - 1].chain == head.chain) return Broken(StrCat("chain ", head.chain, " is there twice"));
    return Broken(StrCat("heads are not sorted: chain ", head.chain, " follows chain ", heads[i - 1].chain));
  }
  return Status();
}

}  // namespace

Sha256Hash LeafOf(const CheckpointHead& head) {
  std::string bytes;
  AppendBigEndian(bytes, static_cast<uint64_t>(head.chain), 8);
  AppendBigEndian(bytes, static_cast<uint64_t>(head.sequence), 8);
  bytes.append(head.hash.begin(), head.hash.end());
  return merkle::LeafHash(bytes);
}

std::vector<Sha256Hash> LeavesOf(const std::vector<CheckpointHead>& heads) {
  std::vector<Sha256Hash> leaves(heads.size());
  std::ranges::transform(heads, leaves.begin(), LeafOf);
  return leaves;
}

Status CheckForm(const SignedStatement& statement) {
  if (statement.version != kCheckpointVersion) {
    return Status(Code::kUnsupportedFormat,
                  StrCat("version ", statement.version, " is not known, only ", kCheckpointVersion));
  }
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
  const Sha256Hash root = merkle::Root(LeavesOf(heads));
  if (root != statement.root) {
    return Broken(StrCat("the heads give the root ", signing::HexOf(root), ", the statement says ",
                         signing::HexOf(statement.root)));
  }
  return Status();
}

}  // namespace checkpoint_bytes

std::string SignedStatement::Bytes() const {
  using checkpoint_bytes::AppendBigEndian;
  std::string bytes = "braid checkpoint";
  AppendBigEndian(bytes, static_cast<uint64_t>(version), 4);
  AppendBigEndian(bytes, static_cast<uint64_t>(sequence), 8);
  AppendBigEndian(bytes, static_cast<uint64_t>(created_at_ms), 8);
  AppendBigEndian(bytes, static_cast<uint64_t>(chain_count), 8);
  bytes.append(root.begin(), root.end());
  AppendBigEndian(bytes, store.size(), 4);
  return bytes + store;
}

}  // namespace braid
