#include "cli/demo/loads.h"

#include "base/log.h"
#include "base/mutex.h"

namespace braid::cli::demo {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

std::span<const LoadKind> AllLoads() {
  static constexpr LoadKind kLoads[] = {
      {"staking", 500ms, OpenStaking},       {"shop", 250ms, OpenShop},          {"sale", 45s, OpenSale},
      {"settlement", 500ms, OpenSettlement}, {"explorer", 1000ms, OpenExplorer}, {"shards", 10s, OpenShards},
  };
  return kLoads;
}

Status Loads::Open(std::span<const LoadKind> kinds) {
  threads_.reserve(kinds.size());
  for (const LoadKind& kind : kinds) threads_.emplace_back([this, kind] { Run(kind); });
  MutexLock lock(mu_);
  changed_.Wait(lock, [&]() BRAID_REQUIRES(mu_) { return opened_ == kinds.size(); });
  return failure_;
}

void Loads::Start() {
  const MutexLock lock(mu_);
  started_ = true;
  changed_.NotifyAll();
}

void Loads::Stop() {
  {
    const MutexLock lock(mu_);
    stop_ = true;
  }
  changed_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Loads::Run(const LoadKind& kind) {
  const Result<std::unique_ptr<Load>> load = kind.open(setting_);
  Opened(load.ok() ? Status() : load.error().CausedBy(kind.name));
  if (!load.ok()) return;
  AwaitStart();
  while (!stop_) {
    const Status status = (*load)->Step();
    if (!status.ok() && !stop_) {
      ++failures_;
      log::warn("the load of {}: {}", kind.name, status.ToString());
      if (!setting_.clients.MayRecover(status))
        return log::error("the load of {} ends: the store has failed", kind.name);
    }
    Pause(kind.pause);
  }
}

void Loads::Opened(const Status& status) {
  const MutexLock lock(mu_);
  ++opened_;
  if (failure_.ok()) failure_ = status;
  changed_.NotifyAll();
}

void Loads::AwaitStart() {
  MutexLock lock(mu_);
  changed_.Wait(lock, [&]() BRAID_REQUIRES(mu_) { return started_ || stop_; });
}

void Loads::Pause(std::chrono::milliseconds pause) {
  MutexLock lock(mu_);
  const auto shorter = std::chrono::duration_cast<CondVar::Clock::duration>(pause / speed_);
  changed_.WaitFor(lock, shorter, [&] { return stop_.load(); });
}

}  // namespace braid::cli::demo
