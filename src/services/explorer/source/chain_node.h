// ChainNode: a node of our own for tests and demos. It answers JSON-RPC calls about a made-up chain, and misbehaves as
// real ones do. NodeServer puts it behind HTTP.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "base/mutex.h"
#include "services/explorer/source/chain_generator.h"

namespace simdjson::dom {
class element;
}

namespace braid::explorer::source {

/// Percentages, each 0..100.
struct NodeFaults {
  uint32_t slow_percent = 0;  // requests that are answered late
  int64_t slow_ms = 100;      // the longest delay, in milliseconds
  /// Requests that fail: HTTP 500 and 429, a connection that ends before or within the answer, a body that is not JSON,
  /// an error in place of one answer of a batch, or a missing answer.
  uint32_t error_percent = 0;
  /// Calls whose answer is inconsistent with the others: blocks of an abandoned branch, another block or none, the
  /// receipt of another transaction, a number of the newest epoch that is too low or too high.
  uint32_t inconsistent_percent = 0;
};

struct NodeOptions {
  ChainOptions chain;
  NodeFaults faults;
  /// The chain's number of epochs at the beginning, at least 1, and the number that it grows up to.
  int64_t epochs_at_start = 1;
  int64_t epochs_max = 1000;
  /// The newest epochs that are not executed yet: there are no receipts of them.
  int64_t not_executed = 4;
  /// Takes a step when a client that has read the newest pivot block asks for the number of the newest epoch again, so
  /// that a follower sees every switch, however slow it is.
  bool paced = false;

  Status Validate() const;  ///< OK, or the first field out of range, its value and its range.
};

/// Methods: cfx_epochNumber ["latest_mined" (as without) or "latest_state"], cfx_getBlocksByEpoch [number],
/// cfx_getBlockByHash [hash, true], cfx_getTransactionReceipt [hash]; and for tests braid_advance [steps], braid_faults
/// [{slow, slowMs, errors, inconsistent}] and braid_state []. Any thread.
class ChainNode {
 public:
  ChainNode(const NodeOptions& options, std::vector<TransactionPtr> real);

  /// The response to a request.
  struct Answer {
    unsigned status = 200;
    std::string body;
    int64_t delay_ms = 0;
    bool dropped = false;  // the connection ends instead
    bool cut = false;      // the connection ends in the middle of the answer
  };
  Answer Handle(std::string_view request);

  struct State {
    int64_t epoch = 0;  // the newest
    int64_t steps = 0;
    int64_t switches = 0;
    int64_t popped = 0;  // epochs of all switches
    bool ended = false;  // it has reached epochs_max and does not change any more
    uint64_t requests = 0;
    uint64_t faults = 0;
  };
  State state() const;
  /// Takes `steps` steps, as long as the chain grows.
  void Advance(int64_t steps);
  void SetFaults(const NodeFaults& faults);
  /// The chain as lines of the interchange format, oldest first.
  std::vector<std::string> Lines() const;

 private:
  struct Place {
    EpochPtr epoch;
    size_t at;  // of its blocks or receipts
  };
  void TakeStep() BRAID_REQUIRES(mu_);
  void AddLink(MadeLink link) BRAID_REQUIRES(mu_);
  void RemoveNewest() BRAID_REQUIRES(mu_);
  int64_t newest() const BRAID_REQUIRES(mu_) { return chain_.back().epoch->number; }
  // The newest epoch whose receipts are known.
  int64_t executed() const BRAID_REQUIRES(mu_) {
    return std::max(chain_.front().epoch->number, newest() - options_.not_executed);
  }
  std::string AnswerCall(const simdjson::dom::element& call) BRAID_REQUIRES(mu_);
  Result<std::string> Run(std::string_view method, const simdjson::dom::element& params) BRAID_REQUIRES(mu_);
  Result<std::string> EpochNumber(const simdjson::dom::element& params) BRAID_REQUIRES(mu_);
  Result<std::string> BlocksByEpoch(const simdjson::dom::element& params) BRAID_REQUIRES(mu_);
  Result<std::string> BlockByHash(const simdjson::dom::element& params) BRAID_REQUIRES(mu_);
  Result<std::string> Receipt(const simdjson::dom::element& params) BRAID_REQUIRES(mu_);
  Result<std::string> Control(std::string_view method, const simdjson::dom::element& params) BRAID_REQUIRES(mu_);
  bool Lies() BRAID_REQUIRES(mu_);
  void Spoil(Answer& answer) BRAID_REQUIRES(mu_);
  State CurrentState() const BRAID_REQUIRES(mu_);

  const NodeOptions options_;
  mutable Mutex mu_;
  ChainGenerator generator_ BRAID_GUARDED_BY(mu_);
  NodeFaults faults_ BRAID_GUARDED_BY(mu_);
  Random random_ BRAID_GUARDED_BY(mu_);
  std::vector<MadeLink> chain_ BRAID_GUARDED_BY(mu_);
  std::map<int64_t, EpochPtr> left_ BRAID_GUARDED_BY(mu_);  // of the branch that was left last, by number
  // By hash, those of branches that were left too.
  std::unordered_map<std::string, Place> blocks_ BRAID_GUARDED_BY(mu_);
  std::unordered_map<std::string, Place> receipts_ BRAID_GUARDED_BY(mu_);  // of the chain, by the transaction's hash
  bool newest_read_ BRAID_GUARDED_BY(mu_) = false;
  State state_ BRAID_GUARDED_BY(mu_);
};

struct NodeServerOptions {
  std::string address = "127.0.0.1";  // loopback: there is no authentication
  uint16_t port = 0;                  // 0: a free one
  /// The interval, in milliseconds, at which the chain takes a step; 0: never by itself.
  int64_t interval_ms = 0;
};

/// Serves until it ends, one thread per connection. The node must outlive it.
class NodeServer {
 public:
  static Result<std::unique_ptr<NodeServer>> Open(ChainNode& node, const NodeServerOptions& options);
  ~NodeServer();
  NodeServer(const NodeServer&) = delete;
  NodeServer& operator=(const NodeServer&) = delete;

  const std::string& url() const;  ///< "http://127.0.0.1:12345"

 private:
  class Parts;
  explicit NodeServer(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

}  // namespace braid::explorer::source
