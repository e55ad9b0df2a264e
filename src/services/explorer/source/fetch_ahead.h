// FetchAhead: fetches epochs of a node on several threads and returns them in order.
#pragma once

#include <map>
#include <optional>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "services/explorer/source/node_source.h"

namespace braid::explorer::source {

struct FetchAheadOptions {
  int64_t first = 0;
  int64_t last = 0;
  int64_t oldest = 0;  // receipts of older epochs are not fetched
  size_t threads = 4;
  /// Epochs, and bytes of them, that may wait to be taken. At least one epoch waits.
  int64_t epochs_max = 256;
  size_t bytes_max = size_t{64} << 20;
};

/// The source must outlive it. Next() is for one thread.
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
