// What a Chains object knows: its collections, and each chain's head as it was last seen, with the reason why the chain
// is halted: it is broken and has to be repaired, or it awaits records that were held back (C4, C9).
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/mutex.h"
#include "braid/chains.h"
#include "braid/clock.h"
#include "braid/transaction.h"
#include "client/handles.h"
#include "patterns/chains/sequences.h"

namespace braid::chains {

/// Parses a head's document; kRecordDamaged if it is not a head.
Result<ChainHead> HeadOf(const bson_t& document);
/// The same, but a damaged head is returned as halted: appends are refused, and the chain can be repaired from the log.
ChainHead HeadOrHalted(const bson_t& document);
/// The field `tree` of a head's document, if it has one.
void AppendTree(const ChainHead& head, client::Bson& fields);
/// {_id, seq, hash, epoch, tree.records, halted: null}: matches the head only if it is still as given, its halt and
/// whether it has a tree included.
void AppendHeadCondition(const ChainHead& head, client::Bson& filter);

/// A chain as this process sees it.
struct ChainState {
  std::mutex mu;       // held during a commit, so that appends to one chain take turns
  bool known = false;  // whether `head` may be current; the commit checks it against the store. Guarded by mu
  ChainHead head;      // guarded by mu
  std::atomic<int64_t> lease = 0;  // the epoch of our lease; 0: none
};

struct Parts {
  Parts(Clients& store, ChainsOptions chosen)
      : clients(store),
        options(std::move(chosen)),
        clock(options.clock != nullptr ? *options.clock : Clock::System()),
        heads(options.log + "_heads"),
        leases(options.log + "_leases"),
        repairs(options.log + "_repairs"),
        tree(options.log + "_tree") {}

  ChainState& StateOf(int64_t chain);
  Status CreateCollections();
  /// kNamespaceNotFound if there is neither a log nor heads.
  Status ExpectLog();
  /// The heads of some chains (all if none is named), ascending, in one snapshot; unknown chains are left out.
  Result<std::vector<ChainHead>> LoadHeads(std::span<const int64_t> numbers);
  /// Makes sure that a chain has a head document, which stands before the first record. A lost head is inserted as
  /// halted, because only the log can tell where the chain ends.
  Status CreateHead(int64_t chain);

  Clients& clients;
  const ChainsOptions options;
  const Clock& clock;
  const std::string heads;
  const std::string leases;
  const std::string repairs;
  const std::string tree;

  RecentSequences recent;

  Mutex mu;
  std::unordered_map<int64_t, std::unique_ptr<ChainState>> states BRAID_GUARDED_BY(mu);  // never shrinks
};

/// The most records that one chain can await; with one more it has to be repaired.
inline constexpr size_t kAwaitedMax = 1000;

/// Whether the chain refuses a new record with this sequence. Records before all awaited ones are accepted.
bool IsHaltedFor(const ChainHead& head, int64_t sequence);
/// kChainHalted: what has to happen before the chain accepts the record.
Status WhyHalted(const ChainHead& head);

/// Marks the chain as broken: only a repair ends the halt.
void Break(ChainHead& head, std::string why);
/// Makes the chain await the record: nothing after it is accepted until it is appended. No change if the head is past
/// it.
void Await(ChainHead& head, AwaitedRecord awaited);
/// Called after the head has moved: removes the awaited records that the head has reached.
void ForgetPassed(ChainHead& head);
/// The chain is no longer broken; it still awaits the same records.
void Mend(ChainHead& head);

/// The field `halted` of a head's document, and its contents back.
void AppendHalt(const ChainHead& head, int64_t at_ms, client::Bson& fields);
void ReadHalt(const bson_t& document, ChainHead& head);

}  // namespace braid::chains
