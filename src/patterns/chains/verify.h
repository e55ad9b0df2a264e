// Verifying chains. One chain: a segment by itself, the segments of a chain in their order, and the rest of a chain in
// groups, of which one is checked while the next is read. All of them: Verification, in parallel.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/workers.h"
#include "braid/chains.h"
#include "patterns/chains/log.h"
#include "patterns/chains/parts.h"
#include "patterns/chains/segment.h"
#include "patterns/chains/sequences.h"

namespace braid::chains {

/// The checks of a segment that do not need the segments before it: nearly all of the work, and any thread can do it.
struct SegmentCheck {
  /// The document must live as long as the check is used.
  void Run(int64_t chain, const bson_t& document);

  /// A record whose hash, from its contents in this chain and the stored hash before it, is not the stored one.
  struct Wrong {
    size_t index;
    ChainHash hash;
  };
  Status status;               ///< kRecordDamaged: no records can be had from it
  Segment segment;             ///< if status is OK, as is the next
  std::vector<Wrong> wrong;    ///< ascending
  int64_t first_sequence = 0;  ///< if status is not OK: as the document says, as is the next
  int64_t last_sequence = 0;
};

/// Takes the segments of one chain in their order and reports what is wrong with them. No store, no clock.
class ChainVerifier {
 public:
  using OnDamage = std::function<void(ChainDamage)>;
  /// One side of a record that several chains carry.
  struct Shared {
    int64_t sequence;
    int64_t chain;
    int64_t other;
    auto operator<=>(const Shared&) const = default;
  };

  /// `trusted`: the first segment's prev_hash is taken as it is, because what comes before is not verified.
  ChainVerifier(int64_t chain, bool trusted, OnDamage on_damage)
      : chain_(chain), whole_(!trusted), linked_(!trusted), on_damage_(std::move(on_damage)) {}

  void Add(const bson_t& document);
  void Add(const SegmentCheck& check);
  /// Called in place of segments that cannot be read: `last` is their last sequence, as far as it is known.
  void AddUnreadable(int64_t sequence, int64_t last, std::string what);
  /// After the last segment. `before` and `after` are the head as it was before the first segment was read and after
  /// the last: a chain may grow meanwhile, but what the head said must be there, and nothing may be past it.
  void Finish(const std::optional<ChainHead>& before, const std::optional<ChainHead>& after);

  int64_t records() const { return records_; }
  int64_t payload_bytes() const { return payload_bytes_; }
  int64_t last_sequence() const { return sequence_; }
  const ChainHash& last_hash() const { return hash_; }
  const std::vector<Shared>& shared() const { return shared_; }
  bool sound() const { return sound_; }
  /// Makes the chain's tree, too; for a whole chain, before the first segment.
  void MakeTree() { tree_.emplace(); }
  const std::optional<ChainTree>& tree() const { return tree_; }
  /// The nodes of the tree that are stored, in the order in which they were complete.
  const std::vector<ChainTreeNode>& nodes() const { return nodes_; }
  /// Called with each segment that could be read. May be empty.
  void OnSegment(std::function<void(const Segment&)> on_segment) { on_segment_ = std::move(on_segment); }
  /// Asks whether the head as it was at the beginning is a record of the chain.
  void ExpectHead(const ChainHead& head) { expected_ = head; }

 private:
  void AddRecord(const ChainRecordView& record, ChainHash hash);
  void CompareHead(const ChainRecordView& record);
  void Damaged(int64_t sequence, std::string what) {
    sound_ = false;
    on_damage_({chain_, sequence, std::move(what)});
  }

  const int64_t chain_;
  const bool whole_;  // from the chain's first record on
  bool linked_;       // whether hash_ is what the next record must name
  const OnDamage on_damage_;
  std::function<void(const Segment&)> on_segment_;
  SegmentCheck check_;
  int64_t sequence_ = 0;               // of the record before
  ChainHash hash_{};                   // its stored hash
  std::optional<ChainHash> computed_;  // the hash it should have, if that is not the stored one
  std::optional<ChainHead> expected_;
  bool expected_seen_ = false;
  bool unreadable_ = false;  // some records could not be read, so that their number is not known
  bool sound_ = true;        // nothing was found so far
  int64_t records_ = 0;
  int64_t payload_bytes_ = 0;
  std::vector<Shared> shared_;
  std::optional<ChainTree> tree_;
  std::vector<ChainTreeNode> nodes_;
};

/// The remaining segments of a cursor, checked by this thread and by idle workers.
class CheckedSegments {
 public:
  CheckedSegments(SegmentCursor& cursor, int64_t chain, Workers& helpers)
      : cursor_(cursor), chain_(chain), helpers_(helpers) {}

  /// Calls `each` in the order of the chain, on this thread. An error: the store failed.
  Status Run(const std::function<void(const SegmentCheck&)>& each);

 private:
  struct Slot {
    std::vector<uint8_t> bytes;  // the document: the cursor's own is gone with the next
    SegmentCheck check;
  };
  struct Group {
    std::vector<std::unique_ptr<Slot>> slots;  // kept, so that memory is not asked for again
    size_t used = 0;
  };

  Status Read(Group& group);
  void Check(Group& group, size_t piece) const;

  SegmentCursor& cursor_;
  const int64_t chain_;
  Workers& helpers_;
};

/// One run of Chains::Verify: chains in parallel, and the segments of one chain too where threads are left; then the
/// records that several chains carry.
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
