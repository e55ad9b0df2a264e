// RpcClient: calls of a JSON-RPC 2.0 server over HTTP, several in one request, tried again until they are answered.
#pragma once

#include <span>
#include <vector>

#include "base/mutex.h"
#include "base/random.h"
#include "services/explorer/source/http.h"

namespace braid::explorer::source {

struct RpcOptions {
  HttpAddress address;
  /// Calls in one HTTP request. Default 100, 1..10 000.
  size_t batch_calls_max = 100;
  /// For one HTTP request, its answer included. Default 20 s.
  std::chrono::milliseconds timeout{20'000};
  /// How long a call that fails is tried again before it is given up. Default 60 s; 0: not at all.
  std::chrono::milliseconds patience{60'000};
  /// The pause after the first failure; it doubles each time, up to the longest, and varies by half.
  std::chrono::milliseconds pause{50};
  std::chrono::milliseconds pause_max{5'000};
  uint64_t seed = 1;  // of the pauses
  /// Ends calls and pauses when it becomes true; may be null.
  const std::atomic<bool>* stop = nullptr;
};

struct RpcCall {
  const char* method;
  std::string params = "[]";  // JSON
};

struct RpcFigures {
  std::atomic<uint64_t> calls = 0;
  std::atomic<uint64_t> requests = 0;
  std::atomic<uint64_t> retries = 0;  // requests that repeat calls
  std::atomic<uint64_t> bytes = 0;    // of answers
};

/// Any thread; as many connections as calls run at a time, kept for the next ones.
class RpcClient {
 public:
  explicit RpcClient(RpcOptions options) : options_(std::move(options)), random_(options_.seed) {}
  ~RpcClient();
  RpcClient(const RpcClient&) = delete;
  RpcClient& operator=(const RpcClient&) = delete;

  /// The results, as JSON, in the order of the calls. Temporary failures (a lost connection, a timeout, HTTP 429 and
  /// 5xx, a body that is not JSON, a missing answer, internal errors of the server) are retried; the last such error is
  /// returned when patience ends. kOperationFailed: the server refuses a call permanently.
  Result<std::vector<std::string>> Call(std::span<const RpcCall> calls);

  const RpcFigures& figures() const { return figures_; }
  const RpcOptions& options() const { return options_; }

 private:
  Status CallBatch(std::span<const RpcCall> calls, std::span<std::string> results);
  Status Exchange(std::span<const RpcCall> calls, std::vector<size_t>& missing, std::span<std::string> results,
                  Status& refusal);
  Result<std::string> Post(const std::string& body);
  Status Pause(std::chrono::milliseconds longest);

  const RpcOptions options_;
  RpcFigures figures_;
  Mutex mu_;
  Random random_ BRAID_GUARDED_BY(mu_);
  std::vector<std::unique_ptr<Stream>> idle_ BRAID_GUARDED_BY(mu_);
};

}  // namespace braid::explorer::source
