#include "services/settlement/service.h"

#include <numeric>
#include <vector>

#include "base/assert.h"
#include "base/log.h"

namespace braid::settlement {
namespace {

constexpr std::string_view kNames[kOutcomes] = {"accepted", "duplicate", "refused", "halted", "elsewhere", "failed"};

}  // namespace

ChainsOptions Options::ToChains() const {
  ChainsOptions options;
  options.database = database;
  options.log = log;
  options.owner = owner;
  options.lease_ttl = lease_ttl;
  options.unique_sequences = true;
  return options;
}

std::string_view NameOf(Outcome outcome) {
  BRAID_ASSERT(static_cast<size_t>(outcome) < kOutcomes);
  return kNames[static_cast<size_t>(outcome)];
}

uint64_t Totals::sum() const { return std::accumulate(counts.begin(), counts.end(), uint64_t{0}); }

Result<std::unique_ptr<Settlement>> Settlement::Open(Clients& clients, const Options& options) {
  BRAID_TRY(std::unique_ptr<Chains> chains, Chains::Open(clients, options.ToChains()));
  std::unique_ptr<Settlement> settlement(new Settlement(std::move(chains), options));
  BRAID_CHECK_OK(settlement->unplaced_.Load());
  BRAID_TRY(settlement->writers_, ChainWriters::Start(*settlement->chains_, options.writers));
  return settlement;
}

Settlement::~Settlement() {
  if (const Status status = Stop(); !status.ok()) log::warn("the settlement log: {}", status.ToString());
}

Status Settlement::Stop() {
  if (writers_ == nullptr) return {};
  const Status stopped = writers_->Stop();
  const Status released = leases_.ReleaseAll();
  return stopped.ok() ? released : stopped;
}

std::span<const schema::CollectionSpec> Collections() {
  static const std::vector<schema::CollectionSpec> collections = [] {
    const std::string log = Options().log;
    return std::vector<schema::CollectionSpec>{
        {.name = log, .indexes = {{.keys = R"({"symbol_id": 1, "last_seq": 1})"}}},
        {.name = log + "_heads"},
        {.name = log + "_leases"},
        {.name = log + "_repairs"},
        {.name = log + "_tree"},
    };
  }();
  return collections;
}

}  // namespace braid::settlement
