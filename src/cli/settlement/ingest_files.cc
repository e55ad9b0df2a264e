// Outputs from files and standard input.
#include "cli/settlement/ingest.h"

#include <chrono>
#include <thread>

#include "base/mutex.h"
#include "cli/transfer/lines.h"

namespace braid::cli::settlement {
namespace {

using braid::settlement::Answer;
using braid::settlement::Intake;
using braid::settlement::Settlement;
using braid::settlement::migration::MigrationWatch;
using std::chrono::milliseconds;

constexpr milliseconds kLookEvery(50);       // a signal handler can set `stop`, but not wake us
constexpr milliseconds kAnswersWithin(700);  // both before Patience ends the process
constexpr milliseconds kPatience(700);

// A thread that waits for a store that does not answer cannot look at `stop`: this one does.
class Interrupter {
 public:
  Interrupter(Settlement& settlement, const std::atomic<bool>& stop)
      : settlement_(settlement), stop_(stop), thread_([this] { Watch(); }) {}
  ~Interrupter() {
    {
      const MutexLock lock(mu_);
      done_ = true;
    }
    wake_.NotifyAll();
    thread_.join();
  }
  Interrupter(const Interrupter&) = delete;
  Interrupter& operator=(const Interrupter&) = delete;

 private:
  void Watch() {
    MutexLock lock(mu_);
    const auto done = [this]() BRAID_REQUIRES(mu_) { return done_; };
    while (!stop_.load()) {
      if (wake_.WaitFor(lock, kLookEvery, done)) return;
    }
    if (wake_.WaitFor(lock, kAnswersWithin, done)) return;
    lock.Unlock();
    settlement_.writers().Stop(kPatience).Ignore("each output is answered with it");
  }

  Settlement& settlement_;
  const std::atomic<bool>& stop_;
  Mutex mu_;
  CondVar wake_;
  bool done_ BRAID_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

Status IngestFile(Settlement& settlement, const std::string& path, MigrationWatch& watch, const std::atomic<bool>& stop,
                  FilesRead& read, Summary& summary) {
  BRAID_TRY(const std::unique_ptr<transfer::Lines> lines, transfer::Lines::Open(path));
  const FilesRead::One reading(read, path, *lines);
  Intake intake(
      settlement, [&](const Answer& answer) { summary.Add(path, answer); }, path,
      path == "-" ? Intake::Source::kStream : Intake::Source::kFile);
  while (!stop.load()) {
    BRAID_CHECK_OK(settlement.writers().failure());
    BRAID_CHECK_OK(watch.Check());
    BRAID_TRY(const std::vector<std::string_view> next, lines->Next());
    if (next.empty()) break;
    for (size_t i = 0; i < next.size() && !stop.load(); ++i) intake.Submit(next[i], lines->numbers()[i]);
  }
  summary.SetStopped(path, intake.stopped());
  return {};
}

}  // namespace

Status IngestFiles(Settlement& settlement, const std::vector<std::string>& files, MigrationWatch& watch,
                   const std::atomic<bool>& stop, FilesRead& read, Summary& summary) {
  const Interrupter interrupter(settlement, stop);
  for (const std::string& file : files) {
    BRAID_CHECK_OK(IngestFile(settlement, file, watch, stop, read, summary));
    if (!summary.stopped().ok()) break;  // the other files may continue from the refused line
  }
  return {};
}

}  // namespace braid::cli::settlement
