#include "engine/commands/janitor.h"

#include <chrono>

#include "engine/commands/parts.h"

namespace braid::commands {
namespace {
constexpr std::chrono::seconds kPeriod{4};
}  // namespace

Janitor::Janitor(EngineParts& parts) : parts_(parts), thread_([this] { Loop(); }) {}

Janitor::~Janitor() {
  {
    std::lock_guard lock(mu_);
    stop_ = true;
  }
  wake_.notify_all();
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
  std::unique_lock lock(mu_);
  while (!wake_.wait_for(lock, kPeriod, [this] { return stop_; })) {
    lock.unlock();
    Sweep();
    lock.lock();
  }
}

}  // namespace braid::commands
