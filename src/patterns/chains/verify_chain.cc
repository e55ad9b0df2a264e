// Verifying one chain: all of its segments in order, and whatever of them can still be read if the store's files are
// damaged.
#include <algorithm>

#include "base/strings.h"
#include "patterns/chains/log.h"
#include "patterns/chains/salvage.h"
#include "patterns/chains/verification.h"
#include "patterns/chains/verify_groups.h"

namespace braid::chains {

Status Verification::VerifyChain(int64_t chain) {
  const bool whole = options_.from_sequence <= 1;
  ChainVerifier verifier(chain, !whole, [this](ChainDamage damage) { AddDamage(std::move(damage)); });
  const Result<std::optional<ChainHead>> before = LoadHead(chain);
  if (!before.ok() && !IsLost(before.error())) return before.error();
  if (before.ok() && *before) verifier.ExpectHead(**before);
  Status read = ReadSegments(chain, verifier);
  if (IsLost(read)) read = ReadWhatIsLeft(chain, verifier);
  BRAID_CHECK_OK(read);
  const Result<std::optional<ChainHead>> after = LoadHead(chain);
  if (!after.ok() && !IsLost(after.error())) return after.error();
  if (!before.ok() || !after.ok()) {
    AddDamage({chain, verifier.last_sequence(),
               StrCat("the head cannot be read: ", (before.ok() ? after : before).error().message())});
  } else if (whole || (*before && (*before)->sequence >= options_.from_sequence)) {
    verifier.Finish(*before, *after);
  }
  const std::lock_guard lock(mu_);
  report_.records += verifier.records();
  report_.payload_bytes += verifier.payload_bytes();
  shared_.insert(shared_.end(), verifier.shared().begin(), verifier.shared().end());
  return {};
}

Result<std::optional<ChainHead>> Verification::LoadHead(int64_t chain) {
  BRAID_TRY(const std::vector<ChainHead> heads, parts_.LoadHeads({&chain, 1}));
  return heads.empty() ? std::nullopt : std::optional(heads.front());
}

Status Verification::ReadSegments(int64_t chain, ChainVerifier& verifier) {
  const Client client = parts_.clients.Acquire();
  SegmentCursor cursor(client.get(), parts_.options,
                       {.chain = chain, .from_sequence = options_.from_sequence <= 1 ? 0 : options_.from_sequence});
  int64_t told = 0;
  const auto tell = [&] {
    Progress(verifier.records() - told);
    told = verifier.records();
  };
  // While there are as many chains as threads, none is idle that could help with this one.
  while (chains_left_ >= threads_) {
    BRAID_TRY(const bson_t* document, cursor.Next());
    if (document == nullptr) return {};
    verifier.Add(*document);
    tell();
  }
  return CheckedSegments(cursor, chain, helpers_).Run([&](const SegmentCheck& check) {
    verifier.Add(check);
    tell();
  });
}

// After the store came upon a damaged place.
Status Verification::ReadWhatIsLeft(int64_t chain, ChainVerifier& verifier) {
  const Client client = parts_.clients.Acquire();
  const int64_t after = std::max(verifier.last_sequence(), options_.from_sequence - 1);
  return Salvage(
      client.get(), parts_.options, chain, after,
      {.on_segment = [&](const bson_t& segment) { verifier.Add(segment); },
       .on_lost =
           [&](int64_t before, int64_t last, std::string_view why) {
             const std::string end = last == 0 ? std::string("on") : StrCat("up to ", last);
             verifier.AddUnreadable(before + 1, last, StrCat("the records from here ", end, " cannot be read: ", why));
           },
       .on_index_lost =
           [&](std::string_view why) {
             AddDamage({chain, verifier.last_sequence() + 1, StrCat("the index of the log cannot be read: ", why)});
           }});
}

void Verification::Progress(int64_t more) {
  const int64_t records = verified_.fetch_add(more) + more;
  if (options_.on_progress) options_.on_progress(records);
}

}  // namespace braid::chains
