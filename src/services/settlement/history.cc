#include "services/settlement/history.h"

#include <algorithm>

#include "base/strings.h"
#include "patterns/chains/hash.h"
#include "patterns/chains/log.h"
#include "patterns/chains/segment.h"

namespace braid::settlement {
namespace {

const CheckpointHead* HeadOf(const Checkpoint& checkpoint, int64_t chain) {
  const auto head = std::lower_bound(checkpoint.heads.begin(), checkpoint.heads.end(), chain,
                                     [](const CheckpointHead& each, int64_t number) { return each.chain < number; });
  return head != checkpoint.heads.end() && head->chain == chain ? &*head : nullptr;
}

}  // namespace

Result<std::optional<ChainHash>> HashAt(Clients& clients, const ChainsOptions& options, int64_t chain,
                                        int64_t sequence) {
  const Client client = clients.Acquire();
  std::optional<ChainHash> hash;
  BRAID_CHECK_OK(chains::FindSegments(client.get(), options, {.chain = chain, .from_sequence = sequence, .limit = 1},
                                      [&](const bson_t& document) -> Status {
                                        chains::Segment segment;
                                        BRAID_CHECK_OK(segment.Read(document));
                                        const ChainRecordView* record = segment.Find(sequence);
                                        if (record != nullptr) hash = record->hash;
                                        return {};
                                      }));
  return hash;
}

Result<std::vector<ChainDamage>> CompareWith(Clients& clients, const ChainsOptions& options,
                                             const Checkpoint& checkpoint, const PublicKey& key) {
  BRAID_CHECK_OK(checkpoint.Verify(key));
  std::vector<ChainDamage> differences;
  for (const CheckpointHead& head : checkpoint.heads) {
    const auto found = HashAt(clients, options, head.chain, head.sequence);
    if (!found.ok() && found.error().code() != Code::kRecordDamaged) return found.error();
    if (found.ok() && *found == head.hash) continue;
    const std::string got = !found.ok() ? std::string(found.error().message())
                            : *found    ? StrCat("got ", chains::HexOf(**found))
                                        : std::string("but there is no such record");
    differences.push_back(
        {head.chain, head.sequence,
         StrCat("history was changed after the checkpoint: expected hash ", chains::HexOf(head.hash), ", ", got)});
  }
  return differences;
}

Result<InclusionProof> Prove(Chains& chains, const Checkpoint& checkpoint, int64_t chain, int64_t sequence,
                             size_t payload_bytes_max) {
  const CheckpointHead* head = HeadOf(checkpoint, chain);
  if (head == nullptr || head->sequence < sequence) {
    return Status(Code::kBadValue,
                  StrCat("the checkpoint does not reach to output ", sequence, " of symbol ", chain,
                         head == nullptr ? ": it has no such symbol" : StrCat(": it ends at ", head->sequence)));
  }
  std::optional<ProvenRecord> proven;
  std::vector<LaterRecord> later;
  size_t bytes = 0;
  BRAID_CHECK_OK(chains.Read(chain, sequence, [&](const ChainRecordView& record) -> Result<bool> {
    if (record.sequence > head->sequence || (!proven && record.sequence != sequence)) return false;
    bytes += record.payload.size();
    if (bytes > payload_bytes_max) {
      return Status(Code::kBadValue, StrCat("the proof would have more than ", payload_bytes_max,
                                            " bytes of payload, from output ", sequence, " to the checkpoint's ",
                                            head->sequence, ": an earlier checkpoint makes a smaller one"));
    }
    const std::vector<int64_t> also(record.also.begin(), record.also.end());
    if (!proven) {
      proven = {chain, sequence, record.prev_hash, also, std::string(record.payload)};
    } else {
      later.push_back({record.sequence, also, std::string(record.payload)});
    }
    return true;
  }));
  if (!proven) return Status(Code::kBadValue, StrCat("symbol ", chain, " has no output ", sequence));
  return MakeInclusionProof(checkpoint, *std::move(proven), std::move(later), HashOf);
}

Sha256Hash HashOf(const HashedFields& record) {
  return HashChainRecord({.chain = record.chain,
                          .sequence = record.sequence,
                          .prev_hash = record.prev_hash,
                          .also = record.also,
                          .payload = record.payload});
}

}  // namespace braid::settlement
