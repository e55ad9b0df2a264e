#include "engine/commands/janitor.h"

#include <chrono>

#include "base/mutex.h"
#include "engine/commands/parts.h"

namespace braid::commands {
namespace {
constexpr std::chrono::milliseconds kPeriod{500};
}  // namespace

Janitor::Janitor(EngineParts& parts) : parts_(parts), thread_([this] { Loop(); }) {}

Janitor::~Janitor() {
  {
    const MutexLock lock(mu_);
    stop_ = true;
  }
  wake_.NotifyAll();
  thread_.join();
}

void Janitor::Sweep() {
  parts_.cursors.Expire();
  parts_.query_sampler.Sweep();
  const std::vector<std::string> over = parts_.sessions.Expire();
  for (const std::string& lsid : over) parts_.cursors.KillSession(lsid);
  parts_.transactions.Forget(over);
  for (const auto& [lsid, number] : parts_.transactions.Sweep()) parts_.cursors.KillTransaction(lsid, number);
  parts_.snapshots.Sweep();
}

void Janitor::Loop() {
  MutexLock lock(mu_);
  while (!wake_.WaitFor(lock, kPeriod, [this]() BRAID_REQUIRES(mu_) { return stop_; })) {
    lock.Unlock();
    Sweep();
    lock.Lock();
  }
}

}  // namespace braid::commands
