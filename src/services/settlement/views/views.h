// Views: what the settlement log amounts to, kept in documents that can be read at once (C8). Each is made from the
// log alone, follows it while it grows, and can be thrown away and built again.
//
//   balances  {_id: "<user>:<asset>", user_id, asset, balance: Decimal128, seq}   (: and % in <user> are %3A and %25)
//   trades    {_id: "<chain>:<seq>:<index>", trade_id, symbol_id, seq, price, qty, buyer_id, seller_id}
//   orders    {_id: <order_id>, user_id, symbol_id, status, seq}
// seq is the newest output_seq that had an effect on the document. Ids are strings: 7 and "7" are the same user.
//
// How far a view is. Records of different chains become durable in any order, so that no single number says what was
// applied: a view's place is one sequence a chain. A chain is applied in its own order; the order between chains does
// not matter, as balances are sums, trades are only added, and of an order the update with the highest sequence stays.
// A record of several chains (C9) counts as one of the smallest of them.
//
// The collection settlement_views has, for a view in the collection C:
//   {_id: "<view>", generation, collection: C, last, building, dead: […]}  where readers find it, and rebuilds
//   {_id: "C:floor", applied_seq, chains: {"<chain>": {seq, hash, records}}}   every document has what is up to here
//   {_id: "C:0"} … {_id: "C:63"}, each {applied_seq, chains: {"<chain>": seq}}   what its documents have beyond that
// Documents are spread over 64 partitions by user, order or sequence: a fixed number, so that the number of workers may
// change between runs. A transaction changes documents of some partitions and the marks of these, and skips what the
// marks say is applied; afterwards the floor is raised. So a kill anywhere loses nothing and doubles nothing, and
// several processes may follow at the same time. Marks hold no more than the chains of the newest batch, whatever the
// number of symbols.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "braid/chains.h"

namespace braid::settlement {

enum class View { kBalances, kTrades, kOrders };
inline constexpr View kViews[] = {View::kBalances, View::kTrades, View::kOrders};

/// "balances", "trades", "orders".
const char* NameOf(View view);

struct ViewsOptions {
  std::string database = "settlement";
  /// The log's collection, as in ChainsOptions.
  std::string log = "engine_output_log";
  /// Transactions side by side, each for the users (orders, trades) of its partitions. Default 4, 1..64; may change
  /// from run to run.
  uint32_t workers = 4;
  /// Records applied at a time: more is faster and takes more memory. Default 20000, 1..100000.
  uint32_t batch_records_max = 20'000;
  /// Ends Follow(), Rebuild() and Check() with kInterrupted when it becomes true; may be null.
  const std::atomic<bool>* stop = nullptr;
  Status Validate() const;
};

struct FollowOptions {
  /// Views that are left as they are.
  std::set<View> without;
  /// Chains that are applied only up to the record before this one: those found damaged.
  std::map<int64_t, int64_t> stop_before;
  /// Called after each batch with the records read so far. May be empty.
  std::function<void(int64_t records)> on_progress;
  /// Called with each view that could not be applied any further, and why; the others go on. May be empty.
  std::function<void(View view, const Status& why)> on_failure;
};

struct FollowReport {
  int64_t records = 0;  ///< read; one of several chains counts in each
  int64_t payload_bytes = 0;
  /// Chains that could not be applied any further, and why; the others were.
  std::vector<ChainDamage> damage;
  bool ok() const { return damage.empty(); }
};

/// How far a view is.
struct ViewProgress {
  View view = View::kBalances;
  std::string collection;
  int64_t generation = 0;
  int64_t applied_seq = 0;  ///< the newest output that it has
  int64_t records = 0;      ///< how many it has; one of several chains counts in each
  int64_t behind = 0;       ///< how many the log has that it has not
};

struct ViewDifference {
  View view = View::kBalances;
  std::string id;
  std::string expected;  ///< the document as the log says, as JSON; empty if there should be none
  std::string found;     ///< as it is; empty if there is none
};

struct CheckReport {
  int64_t records = 0;
  int64_t documents = 0;
  int64_t differences_total = 0;
  std::vector<ViewDifference> differences;  ///< the first thousand
  std::vector<ChainDamage> damage;          ///< if any, nothing was compared
  bool ok() const { return differences_total == 0 && damage.empty(); }
};

namespace views {
struct Parts;
}

/// The views of one log. Any thread, any number of processes. The Clients must outlive it.
class Views {
 public:
  /// Creates what is missing.
  static Result<std::unique_ptr<Views>> Open(Clients& clients, const ViewsOptions& options);
  ~Views();
  Views(const Views&) = delete;
  Views& operator=(const Views&) = delete;

  /// Applies what the log has and the views have not, up to each chain's newest record as of now. Every record's hash
  /// and link is checked first. An error: the store failed, or a balance cannot be exact (kOverflow); the same call
  /// again goes on where this one ended.
  Result<FollowReport> Follow(const FollowOptions& options = {});

  /// Builds the view again from the first record on, beside the one that is there, and puts it in its place in one
  /// transaction once it has all that the present one has; then the old one is dropped. Others may append, follow and
  /// read meanwhile. After a kill the next call goes on. kRecordDamaged: the log no longer has what the present view is
  /// made of; the present view stays.
  Result<FollowReport> Rebuild(View view, const FollowOptions& options = {});

  /// Recounts every view from the log, as far as the view says it is, and compares. Others may append and follow. Reads
  /// a view in one transaction, which must end within the store's limit (60 s by default); memory grows with the view.
  Result<CheckReport> Check(const FollowOptions& options = {});

  /// Calls `read` with the collection that has the view now; once more if the view was replaced while it read.
  Status Read(View view, const std::function<Status(const std::string& collection)>& read);

  /// The highest sequence that every document of the view has seen of each chain.
  Result<std::map<int64_t, int64_t>> Applied(View view);

  /// How far each view is, beside heads that were read before.
  Result<std::vector<ViewProgress>> Progress(std::span<const ChainHead> heads);

  Chains& chains();

 private:
  explicit Views(std::unique_ptr<views::Parts> parts);
  std::unique_ptr<views::Parts> parts_;
};

/// As Views::Progress(), of a store where nothing is created for it: only of views that are there.
Result<std::vector<ViewProgress>> ReadProgress(Clients& clients, const std::string& database,
                                               std::span<const ChainHead> heads);

}  // namespace braid::settlement
