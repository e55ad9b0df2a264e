// ChainDraft: judges records against a chain, and keeps what is new until the commit.
#include "patterns/chains/append.h"

#include <algorithm>

#include "base/assert.h"
#include "base/strings.h"
#include "client/fields.h"
#include "patterns/chains/hash.h"
#include "patterns/chains/log.h"
#include "patterns/chains/parts.h"

namespace braid::chains {
namespace {

constexpr size_t kSegmentBytesMax = 4u << 20;

}  // namespace

void ChainDraft::Begin(int64_t now_ms) {
  BRAID_ASSERT(state_.known);
  now_ms_ = now_ms;
  before_ = now_ = state_.head;
  links_.clear();
  nodes_.clear();
  segment_.Clear();
  segments_.clear();
  lease_ = Status();
  const bool leased = !parts_.options.owner.empty();
  const int64_t held = state_.lease.load();
  if (held == now_.epoch && (leased ? held > 0 : held == 0)) return;
  const std::string why =
      !leased    ? "it is written under leases, and this process has no owner's name"
      : held > 0 ? StrCat("the lease with epoch ", held, " was taken by another, whose epoch is ", now_.epoch)
                 : std::string("this process does not hold its lease");
  lease_ = Status(Code::kLeaseLost, StrCat("chain ", now_.chain, ": ", why));
  state_.lease.store(0);
}

Result<ChainDraft::Judgement> ChainDraft::Judge(const ChainRecord& record, std::span<const int64_t> others) {
  ChainRecordView view{.chain = now_.chain,
                       .sequence = record.sequence,
                       .prev_hash = now_.hash,
                       .also = others,
                       .payload = record.payload};
  if (record.sequence <= now_.sequence) {
    BRAID_TRY(Judgement judged, JudgeOld(record, view));
    if (lease_.ok() || judged.kind == Kind::kStored) return judged;
  }
  if (!lease_.ok()) return Judgement{.status = lease_};
  if (IsHaltedFor(now_, record.sequence)) return Judgement{.status = WhyHalted(now_)};
  const bool named = record.chain == now_.chain;  // the hashes that the caller gives are those of this chain
  const auto broken = [&](const std::string& what) {
    return Judgement{.status = Status(Code::kChainBroken, StrCat("chain ", now_.chain, ": ", what)), .breaks = true};
  };
  if (named && record.prev_hash && *record.prev_hash != now_.hash) {
    return broken(StrCat("expected a record after sequence ", now_.sequence, " with prev_hash ", HexOf(now_.hash),
                         ", got sequence ", record.sequence, " with prev_hash ", HexOf(*record.prev_hash)));
  }
  const ChainHash hash = HashChainRecord(view);
  if (named && record.hash && *record.hash != hash) {
    return broken(StrCat("sequence ", record.sequence, ": expected hash ", HexOf(hash), ", got ", HexOf(*record.hash)));
  }
  return Judgement{.kind = Kind::kNew, .hash = hash};
}

// A sequence at or below the head: either the record is stored there, or it is a fork. A stored record is acknowledged
// even while the chain is halted.
Result<ChainDraft::Judgement> ChainDraft::JudgeOld(const ChainRecord& record, ChainRecordView& view) {
  const auto refused = [&](const std::string& what) {
    if (!now_.halted.empty()) return Judgement{.status = WhyHalted(now_)};
    return Judgement{.status = Status(Code::kChainBroken, StrCat("chain ", now_.chain, ": ", what)), .breaks = true};
  };
  const auto planned = std::lower_bound(links_.begin(), links_.end(), record.sequence,
                                        [](const Link& link, int64_t sequence) { return link.sequence < sequence; });
  ChainHash stored{};
  if (planned != links_.end() && planned->sequence == record.sequence) {
    view.prev_hash = planned->prev_hash;
    stored = planned->hash;
  } else {
    const auto found = FindStored(record.sequence);
    if (!found.ok()) {
      if (found.error().code() == Code::kRecordDamaged) return Judgement{.status = found.error()};
      return found.error();
    }
    if (*found == nullptr) {
      return refused(StrCat("expected a sequence after ", now_.sequence, ", got ", record.sequence,
                            ", which the chain does not have"));
    }
    view.prev_hash = (*found)->prev_hash;
    stored = (*found)->hash;
  }
  const bool named = record.chain == now_.chain;
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

// Null if the store has none. A repeated batch asks for its records one by one, so the latest segment is kept.
Result<const ChainRecordView*> ChainDraft::FindStored(int64_t sequence) {
  if (stored_ != nullptr) {
    if (const ChainRecordView* found = stored_segment_.Find(sequence)) return found;
    stored_.reset();
  }
  const Client client = parts_.clients.Acquire();
  BRAID_CHECK_OK(FindSegments(client.get(), parts_.options,
                              {.chain = now_.chain, .from_sequence = sequence, .limit = 1},
                              [&](const bson_t& document) {
                                stored_.reset(bson_copy(&document));
                                return Status();
                              }));
  if (stored_ == nullptr) return static_cast<const ChainRecordView*>(nullptr);
  if (const Status status = stored_segment_.Read(*stored_); !status.ok()) {
    stored_.reset();
    return status.CausedBy(StrCat("chain ", now_.chain, ", sequence ", sequence));
  }
  return stored_segment_.Find(sequence);
}

void ChainDraft::Accept(const ChainRecord& record, std::span<const int64_t> others, const ChainHash& hash) {
  BRAID_ASSERT(lease_.ok() && record.sequence > now_.sequence);  // invariant (1): it continues the head
  segment_.Add({.chain = now_.chain,
                .sequence = record.sequence,
                .prev_hash = now_.hash,
                .hash = hash,
                .also = others,
                .payload = record.payload});
  links_.push_back({record.sequence, now_.hash, hash});
  now_.sequence = record.sequence;
  now_.hash = hash;
  ++now_.records;
  if (now_.tree) now_.tree->Add(hash, record.sequence, nodes_);
  ForgetPassed(now_);
  if (segment_.size() >= kSegmentBytesMax) FinishSegment();
}

void ChainDraft::FinishSegment() {
  if (segment_.empty()) return;
  segment_.Finish({.epoch = now_.epoch, .created_at = now_ms_, .compression_level = parts_.options.compression_level},
                  segments_.emplace_back());
  segment_.Clear();
}

}  // namespace braid::chains
