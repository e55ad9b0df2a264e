// One run of Chains::Verify: chains in parallel, and the segments of one chain too where threads are left; then the
// records that several chains carry.
#pragma once

#include <atomic>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "base/workers.h"
#include "patterns/chains/parts.h"
#include "patterns/chains/sequences.h"
#include "patterns/chains/verify.h"

namespace braid::chains {

class Verification {
 public:
  Verification(Parts& parts, const VerifyOptions& options);
  Result<VerifyReport> Run();

 private:
  // Checks between chains: shared records and duplicate sequences.
  Result<std::vector<int64_t>> ChainsToVerify();
  Status CompareShared();
  Status NameRepeated(const std::vector<int64_t>& chains);
  enum class Has { kNo, kShared, kOwn };  // kShared: as a record of a smaller chain
  Result<Has> Find(int64_t chain, int64_t sequence);
  Status Failure();
  std::vector<ChainVerifier::Shared> TakeShared();
  /// If the report already lists as many damages as it may, counts one more and returns true.
  bool CountedOnly();
  void AddDamage(ChainDamage damage);

  // One chain.
  Status VerifyChain(int64_t chain);
  Result<std::optional<ChainHead>> LoadHead(int64_t chain);
  Status ReadSegments(int64_t chain, ChainVerifier& verifier);
  Status ReadWhatIsLeft(int64_t chain, ChainVerifier& verifier);
  void Progress(int64_t more);
  Status CompareNodes(int64_t chain, const ChainVerifier& verifier);

  Parts& parts_;
  const VerifyOptions& options_;
  const uint32_t threads_;
  Workers helpers_;
  std::atomic<size_t> chains_left_ = 0;
  std::atomic<int64_t> verified_ = 0;
  Mutex mu_;
  Status failure_ BRAID_GUARDED_BY(mu_);
  VerifyReport report_ BRAID_GUARDED_BY(mu_);
  std::vector<ChainVerifier::Shared> shared_ BRAID_GUARDED_BY(mu_);
  AllSequences sequences_;
};

}  // namespace braid::chains
