// NodeSource: whole epochs from a Conflux node, put together from its JSON-RPC and checked against each other; and
// FetchAhead, which fetches them on several threads and returns them in order.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "braid/status.h"
#include "services/explorer/epoch.h"
#include "services/explorer/source/rpc_client.h"

namespace braid::explorer::source {

/// 0x and 40 lower-case digits of an address in base32, such as "cfx:aak2rra2njvd77ezwjvx04kkds9fzagfe6ku8scz91" or
/// "CFXTEST:TYPE.USER:…". kBadValue if its checksum is wrong. A text that does not look like base32 is returned
/// unchanged.
Result<std::string> AddressInHex(std::string_view address);

struct NodeSourceOptions {
  RpcOptions rpc;
  /// How many epochs later the receipts of an epoch's transactions are delivered, when the node has executed them. 0:
  /// with the epoch itself, which is then available only once it was executed; -1: no receipts. Default 5, -1..1000.
  int64_t receipts_after = 5;

  Status Validate() const;  ///< OK, or the first field out of range, its value and its range.
};

/// An epoch with the facts needed to check whether it follows the chain.
struct FetchedEpoch {
  Epoch epoch;
  int64_t executed = -1;       // the number of the epoch whose receipts it has; -1: none
  std::string executed_pivot;  // its pivot
};

/// True for the error of inconsistent answers: the node has switched its pivot in between, or is faulty. The caller
/// asks again.
bool IsInconsistent(const Status& status);

/// Any thread.
class NodeSource {
 public:
  explicit NodeSource(NodeSourceOptions options) : options_(std::move(options)), rpc_(options_.rpc) {}

  /// The number of the newest epoch that can be fetched.
  Result<int64_t> Newest();
  /// The pivots of the epochs first … first + count - 1.
  Result<std::vector<std::string>> Pivots(int64_t first, int64_t count);
  /// An epoch, with the receipts of an earlier one unless that is below `oldest`.
  Result<FetchedEpoch> Fetch(int64_t number, int64_t oldest);

  /// Forgets what was remembered of an epoch, or of it and all later ones, because it is out of date.
  void Forget(int64_t number);
  void ForgetFrom(int64_t number);

  const RpcFigures& figures() const { return rpc_.figures(); }
  const NodeSourceOptions& options() const { return options_; }

 private:
  /// What is known of an epoch that was fetched, for its receipts later.
  struct Carried {
    std::vector<std::string> blocks;        // hashes
    std::vector<std::string> transactions;  // hashes, each once
  };
  struct Blocks {
    Carried carried;
    std::string json;  // of the list
  };
  Result<std::vector<std::string>> HashesOf(int64_t number);
  Result<Blocks> FetchBlocks(int64_t number);
  Result<std::shared_ptr<const Carried>> CarriedBy(int64_t number);
  Result<std::string> FetchReceipts(int64_t number, const Carried& carried);
  void Remember(int64_t number, std::shared_ptr<const Carried> carried);

  const NodeSourceOptions options_;
  RpcClient rpc_;
  Mutex mu_;
  std::map<int64_t, std::shared_ptr<const Carried>> carried_ BRAID_GUARDED_BY(mu_);  // the newest by number
};

struct FetchAheadOptions {
  int64_t first = 0;
  int64_t last = 0;
  int64_t oldest = 0;  // receipts of older epochs are not fetched
  size_t threads = 4;
  /// Epochs, and bytes of them, that may wait to be taken. At least one epoch waits.
  int64_t epochs_max = 256;
  size_t bytes_max = size_t{64} << 20;
};

/// Fetches epochs on several threads and returns them in order. The source must outlive it. Next() is for one thread.
class FetchAhead {
 public:
  FetchAhead(NodeSource& source, const FetchAheadOptions& options);
  ~FetchAhead();  ///< waits for calls that are under way
  FetchAhead(const FetchAhead&) = delete;
  FetchAhead& operator=(const FetchAhead&) = delete;

  /// The next epoch; nothing after the last one. Without `wait` also nothing if it has not arrived yet. After an error
  /// nothing further is fetched.
  Result<std::optional<FetchedEpoch>> Next(bool wait);

 private:
  void Work();
  bool MayFetch() const BRAID_REQUIRES(mu_);

  NodeSource& source_;
  const FetchAheadOptions options_;
  Mutex mu_;
  CondVar changed_;
  int64_t to_fetch_ BRAID_GUARDED_BY(mu_);
  int64_t to_give_ BRAID_GUARDED_BY(mu_);
  size_t bytes_ BRAID_GUARDED_BY(mu_) = 0;
  bool ended_ BRAID_GUARDED_BY(mu_) = false;
  std::map<int64_t, Result<FetchedEpoch>> ready_ BRAID_GUARDED_BY(mu_);
  std::vector<std::thread> threads_;
};

}  // namespace braid::explorer::source
