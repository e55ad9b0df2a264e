// One call of Chains::Append: the records are judged in their order, a record of several chains as a whole (C9), and
// all new records are committed together.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "patterns/chains/parts.h"
#include "patterns/chains/segment.h"

namespace braid::chains {

/// One chain as an append would leave it. Each record is judged against it (C4), and what is new is kept as links,
/// segments and nodes of the tree until the commit. Used under the lock of its chain.
class ChainDraft {
 public:
  /// The verdict on a record.
  enum class Kind { kNew, kStored, kRefused };
  struct Judgement {
    Kind kind = Kind::kRefused;
    Status status;        // of a refused record
    bool breaks = false;  // whether the refusal halts the chain
    ChainHash hash{};
  };

  ChainDraft(Parts& parts, int64_t chain) : parts_(parts), state_(parts.StateOf(chain)) {}

  /// Starts again from the head that the process knows. Notices if the lease was lost.
  void Begin(int64_t now_ms);
  /// Whether the record follows the draft's head, is stored already or is refused. `others`: its further chains.
  Result<Judgement> Judge(const ChainRecord& record, std::span<const int64_t> others);
  /// Adds a record that was judged to be new, with its hash.
  void Accept(const ChainRecord& record, std::span<const int64_t> others, const ChainHash& hash);
  /// Makes a segment document of the records that are in none yet.
  void FinishSegment();

  ChainState& state() const { return state_; }
  /// The head as the store is expected to have it, and as it is with the draft.
  const ChainHead& before() const { return before_; }
  const ChainHead& now() const { return now_; }
  /// The same, for code that halts the chain.
  ChainHead& now() { return now_; }
  /// kLeaseLost if nothing may be appended.
  const Status& lease() const { return lease_; }
  /// The nodes of the tree that are complete with the draft, and the documents to insert.
  const std::vector<ChainTreeNode>& nodes() const { return nodes_; }
  const std::deque<client::Bson>& segments() const { return segments_; }

  bool halt_changed() const {
    return before_.halted != now_.halted || before_.broken != now_.broken || before_.awaits != now_.awaits;
  }
  bool changed() const { return !links_.empty() || halt_changed(); }

 private:
  struct Link {
    int64_t sequence;
    ChainHash prev_hash;
    ChainHash hash;
  };

  Result<Judgement> JudgeOld(const ChainRecord& record, ChainRecordView& view);
  Result<const ChainRecordView*> FindStored(int64_t sequence);

  Parts& parts_;
  ChainState& state_;
  int64_t now_ms_ = 0;
  ChainHead before_;
  ChainHead now_;
  Status lease_;
  std::vector<Link> links_;  // of the records that are new
  std::vector<ChainTreeNode> nodes_;
  SegmentBuilder segment_;  // of the records that are in no document yet
  std::deque<client::Bson> segments_;
  client::BsonPtr stored_;  // the segment last looked up
  Segment stored_segment_;  // its contents
};

/// One call of Chains::Append().
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
