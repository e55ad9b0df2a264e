// Whether a record follows its chain's head (C4).
#include "base/strings.h"
#include "client/fields.h"
#include "patterns/chains/append.h"
#include "patterns/chains/hash.h"
#include "patterns/chains/log.h"

namespace braid::chains {

Result<Append::Judgement> Append::Judge(Touched& chain, const ChainRecord& record, std::span<const int64_t> others) {
  const ChainHead& now = chain.now;
  ChainRecordView view{.chain = now.chain,
                       .sequence = record.sequence,
                       .prev_hash = now.hash,
                       .also = others,
                       .payload = record.payload};
  if (record.sequence <= now.sequence) {
    BRAID_TRY(Judgement judged, JudgeOld(chain, record, view));
    if (chain.lease.ok() || judged.kind == Kind::kStored) return judged;
  }
  if (!chain.lease.ok()) return Judgement{.status = chain.lease};
  if (!now.halted.empty()) {
    return Judgement{
        .status = Status(Code::kChainHalted, StrCat("chain ", now.chain, " is halted until repaired; ", now.halted))};
  }
  const bool named = record.chain == now.chain;  // hashes that are given are those of this chain
  const auto broken = [&](const std::string& what) {
    return Judgement{.status = Status(Code::kChainBroken, StrCat("chain ", now.chain, ": ", what)), .breaks = true};
  };
  if (named && record.prev_hash && *record.prev_hash != now.hash) {
    return broken(StrCat("expected a record after sequence ", now.sequence, " with prev_hash ", HexOf(now.hash),
                         ", got sequence ", record.sequence, " with prev_hash ", HexOf(*record.prev_hash)));
  }
  const ChainHash hash = HashChainRecord(view);
  if (named && record.hash && *record.hash != hash) {
    return broken(StrCat("sequence ", record.sequence, ": expected hash ", HexOf(hash), ", got ", HexOf(*record.hash)));
  }
  return Judgement{.kind = Kind::kNew, .hash = hash};
}

// At or below the head: the record that is stored there, or a fork. A stored one is acknowledged even while halted.
Result<Append::Judgement> Append::JudgeOld(Touched& chain, const ChainRecord& record, ChainRecordView& view) {
  const ChainHead& now = chain.now;
  const auto refused = [&](const std::string& what) {
    if (!now.halted.empty()) {
      return Judgement{
          .status = Status(Code::kChainHalted, StrCat("chain ", now.chain, " is halted until repaired; ", now.halted))};
    }
    return Judgement{.status = Status(Code::kChainBroken, StrCat("chain ", now.chain, ": ", what)), .breaks = true};
  };
  const auto planned = std::lower_bound(chain.links.begin(), chain.links.end(), record.sequence,
                                        [](const Link& link, int64_t sequence) { return link.sequence < sequence; });
  ChainHash stored{};
  if (planned != chain.links.end() && planned->sequence == record.sequence) {
    view.prev_hash = planned->prev_hash;
    stored = planned->hash;
  } else {
    const auto found = FindStored(chain, record.sequence);
    if (!found.ok()) {
      if (found.error().code() == Code::kRecordDamaged) return Judgement{.status = found.error()};
      return found.error();
    }
    if (*found == nullptr) {
      return refused(StrCat("expected a sequence after ", now.sequence, ", got ", record.sequence,
                            ", which the chain does not have"));
    }
    view.prev_hash = (*found)->prev_hash;
    stored = (*found)->hash;
  }
  const bool named = record.chain == now.chain;
  const ChainHash hash = HashChainRecord(view);
  if (hash != stored || (named && record.hash && *record.hash != stored)) {
    return refused(StrCat("sequence ", record.sequence, ": expected the stored hash ", HexOf(stored), ", got ",
                          HexOf(hash != stored ? hash : *record.hash)));
  }
  if (named && record.prev_hash && *record.prev_hash != view.prev_hash) {
    return refused(StrCat("sequence ", record.sequence, ": expected prev_hash ", HexOf(view.prev_hash), ", got ",
                          HexOf(*record.prev_hash)));
  }
  return Judgement{.kind = Kind::kStored, .hash = stored};
}

// Null if the store has none. A batch that comes again asks for its records one by one: the latest segment is kept.
Result<const ChainRecordView*> Append::FindStored(Touched& chain, int64_t sequence) {
  if (chain.stored != nullptr) {
    if (const ChainRecordView* found = chain.stored_segment.Find(sequence)) return found;
    chain.stored.reset();
  }
  const Client client = parts_.clients.Acquire();
  BRAID_CHECK_OK(FindSegments(client.get(), parts_.options,
                              {.chain = chain.now.chain, .from_sequence = sequence, .limit = 1},
                              [&](const bson_t& document) {
                                chain.stored.reset(bson_copy(&document));
                                return Status();
                              }));
  if (chain.stored == nullptr) return static_cast<const ChainRecordView*>(nullptr);
  if (const Status status = chain.stored_segment.Read(*chain.stored); !status.ok()) {
    chain.stored.reset();
    return status.CausedBy(StrCat("chain ", chain.now.chain, ", sequence ", sequence));
  }
  return chain.stored_segment.Find(sequence);
}

}  // namespace braid::chains
