// Chains::Verify: chains in parallel, and the segments of one chain too where threads are left; then the records that
// several chains carry.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "base/strings.h"
#include "base/workers.h"
#include "patterns/chains/log.h"
#include "patterns/chains/parts.h"
#include "patterns/chains/salvage.h"
#include "patterns/chains/verify.h"
#include "patterns/chains/verify_groups.h"

namespace braid {
namespace {

using chains::ChainVerifier;
using chains::IsLost;

class Verification {
 public:
  Verification(chains::Parts& parts, const VerifyOptions& options)
      : parts_(parts),
        options_(options),
        threads_(options.threads > 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency())),
        helpers_(threads_ - 1) {}

  Result<VerifyReport> Run() {
    BRAID_TRY(std::vector<int64_t> chains, ChainsToVerify());
    chains_left_ = chains.size();
    helpers_.Run(chains.size(), [&](size_t i) {
      Status status = VerifyChain(chains[i]);
      --chains_left_;
      const std::lock_guard lock(mu_);
      if (failure_.ok()) failure_ = std::move(status);
    });
    BRAID_CHECK_OK(failure_);
    BRAID_CHECK_OK(CompareShared());
    std::stable_sort(report_.damage.begin(), report_.damage.end(),
                     [](const ChainDamage& a, const ChainDamage& b) { return a.chain < b.chain; });
    report_.chains = static_cast<int64_t>(chains.size());
    return std::move(report_);
  }

 private:
  // Those with a head and those with segments: each should have both. If one of the two cannot be read, the chains are
  // those of the other, and what is wrong shows with them.
  Result<std::vector<int64_t>> ChainsToVerify() {
    std::vector<int64_t> chains = options_.chains;
    if (chains.empty()) {
      const Client client = parts_.clients.Acquire();
      Result<std::vector<int64_t>> log = chains::ChainsInLog(client.get(), parts_.options);
      const Result<std::vector<int64_t>> heads = chains::ChainsWithHead(client.get(), parts_.options, parts_.heads);
      if (!log.ok() && (!IsLost(log.error()) || !heads.ok())) return log.error();
      if (!heads.ok() && !IsLost(heads.error())) return heads.error();
      if (log.ok()) chains = *std::move(log);
      if (heads.ok()) chains.insert(chains.end(), heads->begin(), heads->end());
    }
    std::sort(chains.begin(), chains.end());
    chains.erase(std::unique(chains.begin(), chains.end()), chains.end());
    return chains;
  }

  Result<std::optional<ChainHead>> LoadHead(int64_t chain) {
    BRAID_TRY(const std::vector<ChainHead> heads, parts_.LoadHeads({&chain, 1}));
    return heads.empty() ? std::nullopt : std::optional(heads.front());
  }

  Status VerifyChain(int64_t chain) {
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

  Status ReadSegments(int64_t chain, ChainVerifier& verifier) {
    const Client client = parts_.clients.Acquire();
    chains::SegmentCursor cursor(
        client.get(), parts_.options,
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
    return chains::CheckedSegments(cursor, chain, helpers_).Run([&](const chains::SegmentCheck& check) {
      verifier.Add(check);
      tell();
    });
  }

  // After the store came upon a damaged place.
  Status ReadWhatIsLeft(int64_t chain, ChainVerifier& verifier) {
    const Client client = parts_.clients.Acquire();
    const int64_t after = std::max(verifier.last_sequence(), options_.from_sequence - 1);
    return chains::Salvage(
        client.get(), parts_.options, chain, after,
        {.on_segment = [&](const bson_t& segment) { verifier.Add(segment); },
         .on_lost =
             [&](int64_t before, int64_t last, std::string_view why) {
               const bool to_the_end = last == 0;
               verifier.AddUnreadable(to_the_end ? before : last, last,
                                      StrCat("the records after ", before, to_the_end ? "" : " and up to this one",
                                             " cannot be read: ", why));
             },
         .on_index_lost =
             [&](std::string_view why) {
               AddDamage({chain, verifier.last_sequence(), StrCat("the index of the log cannot be read: ", why)});
             }});
  }

  // C9: who shares a record with another chain must be found in that chain too. Costs 24 bytes a shared record and
  // chain.
  Status CompareShared() {
    std::sort(shared_.begin(), shared_.end());
    for (const ChainVerifier::Shared& side : shared_) {
      const ChainVerifier::Shared mirror{side.sequence, side.other, side.chain};
      if (std::binary_search(shared_.begin(), shared_.end(), mirror)) continue;
      // Not among the chains to verify, or committed since that chain was read: so it is looked up.
      const Result<bool> stored = Has(side.other, side.sequence);
      if (!stored.ok() && !IsLost(stored.error())) return stored.error();
      if (stored.ok() && *stored) continue;
      AddDamage({side.other, side.sequence,
                 StrCat(stored.ok() ? "missing" : "cannot be read", ", although chain ", side.chain, " shares it")});
    }
    return {};
  }

  Result<bool> Has(int64_t chain, int64_t sequence) {
    bool found = false;
    const Client client = parts_.clients.Acquire();
    BRAID_CHECK_OK(chains::FindSegments(client.get(), parts_.options,
                                        {.chain = chain, .from_sequence = sequence, .limit = 1},
                                        [&](const bson_t& document) {
                                          chains::Segment segment;
                                          found = segment.Read(document).ok() && segment.Find(sequence) != nullptr;
                                          return Status();
                                        }));
    return found;
  }

  void AddDamage(ChainDamage damage) {
    const std::lock_guard lock(mu_);
    ++report_.damaged;
    if (report_.damage.size() < options_.damage_max) report_.damage.push_back(std::move(damage));
  }

  void Progress(int64_t more) {
    const int64_t records = verified_.fetch_add(more) + more;
    if (options_.on_progress) options_.on_progress(records);
  }

  chains::Parts& parts_;
  const VerifyOptions& options_;
  const uint32_t threads_;
  Workers helpers_;
  std::atomic<size_t> chains_left_ = 0;
  std::atomic<int64_t> verified_ = 0;
  std::mutex mu_;
  Status failure_;  // guarded by mu_, as are the next two
  VerifyReport report_;
  std::vector<ChainVerifier::Shared> shared_;
};

}  // namespace

Result<VerifyReport> Chains::Verify(const VerifyOptions& options) { return Verification(*parts_, options).Run(); }

}  // namespace braid
