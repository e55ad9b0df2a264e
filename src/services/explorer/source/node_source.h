// NodeSource: whole epochs from a Conflux node, put together from its JSON-RPC and checked against each other.
#pragma once

#include <map>
#include <memory>

#include "base/mutex.h"
#include "services/explorer/epoch.h"
#include "services/explorer/source/rpc_client.h"

namespace braid::explorer::source {

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

}  // namespace braid::explorer::source
