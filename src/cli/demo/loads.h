// Load: the repeated work of one part of the demo; the table of all loads; and Loads, which runs every load on a thread
// of its own until told to stop.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "braid/clients.h"
#include "cli/demo/journal.h"

namespace braid::cli::demo {

/// The resources that loads use. All of them outlive the loads.
struct Setting {
  Clients& clients;
  Journal& journal;
  const std::atomic<bool>& stop;  ///< ends waits for the store
};

/// One thread.
class Load {
 public:
  virtual ~Load() = default;
  /// Does a little. After an error the same step is tried again: it must be safe to repeat.
  virtual Status Step() = 0;
};

/// Opens a load: afterwards its service has data. A store that already has data continues with it.
using OpenLoad = Result<std::unique_ptr<Load>> (*)(const Setting& setting);
Result<std::unique_ptr<Load>> OpenStaking(const Setting& setting);
Result<std::unique_ptr<Load>> OpenShop(const Setting& setting);
Result<std::unique_ptr<Load>> OpenSale(const Setting& setting);
Result<std::unique_ptr<Load>> OpenSettlement(const Setting& setting);
Result<std::unique_ptr<Load>> OpenExplorer(const Setting& setting);
Result<std::unique_ptr<Load>> OpenShards(const Setting& setting);

struct LoadKind {
  const char* name;                 ///< of its document in demo.status
  std::chrono::milliseconds pause;  ///< between two steps
  OpenLoad open;
};

/// Every load of the demo.
std::span<const LoadKind> AllLoads();

/// One thread starts and stops it. The Clients and the Journal must outlive it.
class Loads {
 public:
  /// `speed`: how much shorter the pauses between steps are.
  Loads(Clients& clients, Journal& journal, double speed)
      : setting_{.clients = clients, .journal = journal, .stop = stop_}, speed_(speed) {}
  /// Calls Stop().
  ~Loads() { Stop(); }
  Loads(const Loads&) = delete;
  Loads& operator=(const Loads&) = delete;

  /// Opens the loads side by side and returns once each service has data, or with the first error.
  Status Open(std::span<const LoadKind> kinds);
  /// Begins with the steps.
  void Start();
  /// Ends the current steps and closes the loads.
  void Stop();

  /// Steps that failed; each was logged, and is tried again unless the store has failed for good.
  uint64_t failures() const { return failures_; }

 private:
  void Run(const LoadKind& kind);
  void Opened(const Status& status);
  void AwaitStart();
  void Pause(std::chrono::milliseconds pause);

  std::atomic<bool> stop_ = false;
  std::atomic<uint64_t> failures_ = 0;
  const Setting setting_;
  const double speed_;
  Mutex mu_;
  CondVar changed_;
  size_t opened_ BRAID_GUARDED_BY(mu_) = 0;
  Status failure_ BRAID_GUARDED_BY(mu_);  // the first of an opening
  bool started_ BRAID_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace braid::cli::demo
