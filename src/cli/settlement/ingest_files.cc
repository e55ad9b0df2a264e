#include "cli/settlement/ingest_files.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "cli/transfer/lines.h"

namespace braid::cli::settlement {
namespace {

using braid::settlement::Answer;
using braid::settlement::Intake;
using braid::settlement::Settlement;
using std::chrono::milliseconds;

constexpr milliseconds kLookEvery(50);  // a signal handler can set `stop`, but not wake us
constexpr milliseconds kAnswersWithin(2000);
constexpr milliseconds kPatience(3000);

// Whoever waits for a store that does not answer cannot look at `stop`: this thread does.
class Interrupter {
 public:
  Interrupter(Settlement& settlement, const std::atomic<bool>& stop)
      : settlement_(settlement), stop_(stop), thread_([this] { Watch(); }) {}
  ~Interrupter() {
    {
      const std::lock_guard lock(mu_);
      done_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  Interrupter(const Interrupter&) = delete;
  Interrupter& operator=(const Interrupter&) = delete;

 private:
  void Watch() {
    std::unique_lock lock(mu_);
    const auto done = [this] { return done_; };
    while (!stop_.load()) {
      if (wake_.wait_for(lock, kLookEvery, done)) return;
    }
    if (wake_.wait_for(lock, kAnswersWithin, done)) return;
    lock.unlock();
    settlement_.writers().Stop(kPatience).Ignore("each output is answered with it");
  }

  Settlement& settlement_;
  const std::atomic<bool>& stop_;
  std::mutex mu_;
  std::condition_variable wake_;
  bool done_ = false;  // guarded by mu_
  std::thread thread_;
};

Status IngestFile(Settlement& settlement, const std::string& path, const std::atomic<bool>& stop, Summary& summary) {
  BRAID_TRY(const std::unique_ptr<transfer::Lines> lines, transfer::Lines::Open(path));
  Intake intake(settlement, [&](const Answer& answer) { summary.Add(path, answer); });
  while (!stop.load()) {
    BRAID_CHECK_OK(settlement.writers().failure());
    BRAID_TRY(const std::vector<std::string_view> next, lines->Next());
    if (next.empty()) break;
    for (const std::string_view line : next) {
      if (stop.load()) break;
      intake.Submit(line);
    }
  }
  return {};
}

}  // namespace

Status IngestFiles(Settlement& settlement, const std::vector<std::string>& files, const std::atomic<bool>& stop,
                   Summary& summary) {
  const Interrupter interrupter(settlement, stop);
  for (const std::string& file : files) BRAID_CHECK_OK(IngestFile(settlement, file, stop, summary));
  return {};
}

}  // namespace braid::cli::settlement
