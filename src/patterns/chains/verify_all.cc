#include <algorithm>
#include <thread>

#include "base/strings.h"
#include "patterns/chains/log.h"
#include "patterns/chains/salvage.h"
#include "patterns/chains/verification.h"

namespace braid {

Result<VerifyReport> Chains::Verify(const VerifyOptions& options) {
  return chains::Verification(*parts_, options).Run();
}

namespace chains {

Verification::Verification(Parts& parts, const VerifyOptions& options)
    : parts_(parts),
      options_(options),
      threads_(options.threads > 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency())),
      helpers_(threads_ - 1) {}

Result<VerifyReport> Verification::Run() {
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

// Those with a head and those with segments: each should have both. If one of the two cannot be read, the chains are
// those of the other, and what is wrong shows with them.
Result<std::vector<int64_t>> Verification::ChainsToVerify() {
  std::vector<int64_t> chains = options_.chains;
  if (chains.empty()) {
    const Client client = parts_.clients.Acquire();
    Result<std::vector<int64_t>> log = ChainsInLog(client.get(), parts_.options);
    const Result<std::vector<int64_t>> heads = ChainsWithHead(client.get(), parts_.options, parts_.heads);
    if (!log.ok() && (!IsLost(log.error()) || !heads.ok())) return log.error();
    if (!heads.ok() && !IsLost(heads.error())) return heads.error();
    if (log.ok()) chains = *std::move(log);
    if (heads.ok()) chains.insert(chains.end(), heads->begin(), heads->end());
  }
  std::sort(chains.begin(), chains.end());
  chains.erase(std::unique(chains.begin(), chains.end()), chains.end());
  return chains;
}

// C9: who shares a record with another chain must be found in that chain too. Costs 24 bytes a shared record and
// chain.
Status Verification::CompareShared() {
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

Result<bool> Verification::Has(int64_t chain, int64_t sequence) {
  bool found = false;
  const Client client = parts_.clients.Acquire();
  BRAID_CHECK_OK(FindSegments(client.get(), parts_.options, {.chain = chain, .from_sequence = sequence, .limit = 1},
                              [&](const bson_t& document) {
                                Segment segment;
                                found = segment.Read(document).ok() && segment.Find(sequence) != nullptr;
                                return Status();
                              }));
  return found;
}

void Verification::AddDamage(ChainDamage damage) {
  const std::lock_guard lock(mu_);
  ++report_.damaged;
  if (report_.damage.size() < options_.damage_max) report_.damage.push_back(std::move(damage));
}

}  // namespace chains
}  // namespace braid
