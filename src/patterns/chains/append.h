// One call of Chains::Append: the records are judged in their order, a record of several chains as a whole (C9), and
// all new records are committed together.
#pragma once

#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "patterns/chains/chain_draft.h"
#include "patterns/chains/parts.h"

namespace braid::chains {

class Append {
 public:
  Append(Parts& parts, std::span<const ChainRecord> records) : parts_(parts), records_(records) {}
  Result<std::vector<Appended>> Run();

 private:
  using Judgement = ChainDraft::Judgement;
  using Kind = ChainDraft::Kind;
  using Others = std::vector<int64_t>;

  Status Validate() const;
  void LockChains();
  Status LoadHeads();
  Status Plan();
  Status PlanShared(const ChainRecord& record, Appended& result);
  Status ClaimSequence(const ChainRecord& record);
  void PlanRefused(const ChainRecord& record, Appended& result);
  void HoldBack(const ChainRecord& record, std::span<const int64_t> chains);
  Status Commit();
  void Forget();
  ChainDraft& DraftOf(int64_t chain);

  Parts& parts_;
  const std::span<const ChainRecord> records_;
  std::map<int64_t, ChainDraft> drafts_;  // ascending: the order in which chains are locked
  std::vector<std::unique_lock<std::mutex>> locks_;
  std::vector<Appended> results_;
  int64_t now_ms_ = 0;
  ChainDraft* latest_ = nullptr;  // records of one chain come in runs
  int64_t latest_chain_ = 0;
};

}  // namespace braid::chains
