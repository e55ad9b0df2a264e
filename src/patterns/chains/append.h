// One call of Chains::Append: what each record is (new, stored already, refused), and the commit of what is new.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include "patterns/chains/parts.h"
#include "patterns/chains/segment.h"

namespace braid::chains {

class Append {
 public:
  Append(Parts& parts, std::span<const ChainRecord> records) : parts_(parts), records_(records) {}
  Result<std::vector<Appended>> Run();

 private:
  /// A record on one of its chains.
  enum class Kind { kNew, kStored, kRefused };
  struct Judgement {
    Kind kind = Kind::kRefused;
    Status status;        // of a refused one
    bool breaks = false;  // whether the refusal halts the chain
    ChainHash hash{};
  };
  struct Link {
    int64_t sequence;
    ChainHash prev_hash;
    ChainHash hash;
  };
  /// A chain that the records touch.
  struct Touched {
    ChainState* state = nullptr;
    ChainHead before;         // as the store is expected to have it
    ChainHead now;            // with the planned records
    Status lease;             // kLeaseLost if nothing may be appended
    std::vector<Link> links;  // of the planned records
    SegmentBuilder segment;   // of the planned records that are in no document yet
    client::BsonPtr stored;   // the segment last looked up
    Segment stored_segment;   // its contents

    bool changed() const { return !links.empty() || before.halted != now.halted; }
  };
  using Others = std::vector<int64_t>;

  Status Validate() const;
  void LockChains();
  Status LoadHeads();
  void BeginPlan();
  Status Plan();
  Status PlanShared(const ChainRecord& record, Appended& result);
  Result<Judgement> Judge(Touched& chain, const ChainRecord& record, std::span<const int64_t> others);
  Result<Judgement> JudgeOld(Touched& chain, const ChainRecord& record, ChainRecordView& view);
  Result<const ChainRecordView*> FindStored(Touched& chain, int64_t sequence);
  void Accept(Touched& chain, const ChainRecord& record, std::span<const int64_t> others, const ChainHash& hash);
  void FinishSegment(Touched& chain);
  Status Commit();
  void Forget();
  Touched& TouchedOf(int64_t chain);

  Parts& parts_;
  const std::span<const ChainRecord> records_;
  std::map<int64_t, Touched> touched_;  // ascending: the order in which chains are locked
  std::vector<std::unique_lock<std::mutex>> locks_;
  std::vector<Appended> results_;
  std::deque<client::Bson> documents_;  // the segments to insert
  int64_t now_ms_ = 0;
  Touched* latest_ = nullptr;  // records of one chain come in runs
  int64_t latest_chain_ = 0;
};

}  // namespace braid::chains
