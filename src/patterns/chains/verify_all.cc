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
#include "patterns/chains/verify.h"
#include "patterns/chains/verify_groups.h"

namespace braid {
namespace {

using chains::ChainVerifier;

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
  // Those with a head and those with segments: each should have both.
  Result<std::vector<int64_t>> ChainsToVerify() {
    std::vector<int64_t> chains = options_.chains;
    if (chains.empty()) {
      const Client client = parts_.clients.Acquire();
      BRAID_TRY(chains, chains::ChainsInLog(client.get(), parts_.options));
      BRAID_TRY(const std::vector<int64_t> heads, chains::ChainsWithHead(client.get(), parts_.options, parts_.heads));
      chains.insert(chains.end(), heads.begin(), heads.end());
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
    BRAID_TRY(const std::optional<ChainHead> before, LoadHead(chain));
    if (before) verifier.ExpectHead(*before);
    const Client client = parts_.clients.Acquire();
    chains::SegmentCursor cursor(client.get(), parts_.options,
                                 {.chain = chain, .from_sequence = whole ? 0 : options_.from_sequence});
    int64_t told = 0;
    const auto tell = [&] {
      Progress(verifier.records() - told);
      told = verifier.records();
    };
    // While there are as many chains as threads, none is idle that could help with this one.
    while (chains_left_ >= threads_) {
      BRAID_TRY(const bson_t* document, cursor.Next());
      if (document == nullptr) break;
      verifier.Add(*document);
      tell();
    }
    BRAID_CHECK_OK(chains::CheckedSegments(cursor, chain, helpers_).Run([&](const chains::SegmentCheck& check) {
      verifier.Add(check);
      tell();
    }));
    BRAID_TRY(const std::optional<ChainHead> after, LoadHead(chain));
    const bool in_range = whole || (before && before->sequence >= options_.from_sequence);
    if (in_range) verifier.Finish(before, after);
    const std::lock_guard lock(mu_);
    report_.records += verifier.records();
    report_.payload_bytes += verifier.payload_bytes();
    shared_.insert(shared_.end(), verifier.shared().begin(), verifier.shared().end());
    return {};
  }

  // C9: who shares a record with another chain must be found in that chain too. Costs 24 bytes a shared record and
  // chain.
  Status CompareShared() {
    std::sort(shared_.begin(), shared_.end());
    for (const ChainVerifier::Shared& side : shared_) {
      const ChainVerifier::Shared mirror{side.sequence, side.other, side.chain};
      if (std::binary_search(shared_.begin(), shared_.end(), mirror)) continue;
      // Not among the chains to verify, or committed since that chain was read: so it is looked up.
      BRAID_TRY(const bool stored, Has(side.other, side.sequence));
      if (!stored) {
        AddDamage({side.other, side.sequence, StrCat("missing, although chain ", side.chain, " shares it")});
      }
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
