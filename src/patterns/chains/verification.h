// One run of Chains::Verify: chains in parallel, and the segments of one chain too where threads are left; then the
// records that several chains carry.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <vector>

#include "base/workers.h"
#include "patterns/chains/parts.h"
#include "patterns/chains/verify.h"

namespace braid::chains {

class Verification {
 public:
  Verification(Parts& parts, const VerifyOptions& options);
  Result<VerifyReport> Run();

 private:
  // Of verify_all.cc.
  Result<std::vector<int64_t>> ChainsToVerify();
  Status CompareShared();
  Result<bool> Has(int64_t chain, int64_t sequence);
  void AddDamage(ChainDamage damage);

  // Of verify_chain.cc.
  Status VerifyChain(int64_t chain);
  Result<std::optional<ChainHead>> LoadHead(int64_t chain);
  Status ReadSegments(int64_t chain, ChainVerifier& verifier);
  Status ReadWhatIsLeft(int64_t chain, ChainVerifier& verifier);
  void Progress(int64_t more);

  Parts& parts_;
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

}  // namespace braid::chains
