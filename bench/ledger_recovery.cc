// Recovery during load (C11): verification and the views' replay while writers append as fast as they can, each beside
// itself alone.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "base/mutex.h"
#include "base/strings.h"
#include "bench/ledger_runs.h"
#include "services/settlement/generator.h"
#include "services/settlement/views/views.h"

namespace braid::bench {
namespace {

using Clock = std::chrono::steady_clock;
using settlement::Output;

// Made-up outputs are numbered on and used again: the load must not end before the reading, however long that takes.
constexpr uint64_t kOutputsMade = 20'000;
constexpr double kSecondsAtLeast = 1;

double SecondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Appends outputs, numbered from 1 on.
class Load {
 public:
  Load(ChainWriters& writers, const LedgerOptions& options, uint64_t in_flight)
      : writers_(writers), window_(in_flight) {
    settlement::Generator generator({.symbols = options.symbols, .seed = options.seed});
    for (uint64_t i = 0; i < std::min(options.records, kOutputsMade); ++i) outputs_.push_back(generator.Next());
  }
  ~Load() { Stop().Ignore("whoever wants to know has asked"); }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  /// Appends so many and waits for them.
  Status Fill(uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) BRAID_CHECK_OK(Next());
    return Finish();
  }
  /// Appends from a thread of its own. Returns once the first are acknowledged.
  void Start() {
    stop_ = false;
    const uint64_t before = appended_;
    thread_ = std::thread([this] {
      while (!stop_) {
        if (!Next().ok()) return;  // Finish() says why
      }
    });
    while (appended_ == before && Failure().ok()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  Status Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    return Finish();
  }
  uint64_t appended() const { return appended_; }

 private:
  Status Next() {
    window_.Enter();
    Status status = Failure();
    if (status.ok()) {
      Output& output = outputs_[static_cast<uint64_t>(sequence_) % outputs_.size()];
      output.output_seq = ++sequence_;
      status = writers_.Submit(ToRecord(output), [this](const Appended& appended) { Answered(appended.status); });
    }
    if (!status.ok()) window_.Leave();
    return status;
  }
  void Answered(const Status& status) {
    if (status.ok()) {
      ++appended_;
    } else {
      const MutexLock lock(mu_);
      failure_ = status;
    }
    window_.Leave();
  }
  Status Failure() {
    const MutexLock lock(mu_);
    return failure_;
  }
  Status Finish() {
    window_.AwaitEmpty();
    return Failure();
  }

  ChainWriters& writers_;
  Window window_;
  std::vector<Output> outputs_;
  int64_t sequence_ = 0;  // of one thread at a time, as is outputs_
  std::atomic<uint64_t> appended_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
  Mutex mu_;
  Status failure_ BRAID_GUARDED_BY(mu_);
};

/// The readings, and one store that they read and the load extends.
class Recovery {
 public:
  Recovery(const LedgerOptions& options, Chains& chains, settlement::Views& views, Load& load)
      : options_(options), chains_(chains), views_(views), load_(load) {}

  Result<std::vector<LedgerRecoveryRow>> Run() {
    // The views once alone and once during the load, so there must be something new for them in between.
    const uint64_t some = std::max<uint64_t>(1, options_.records / 4);
    BRAID_CHECK_OK(load_.Fill(some));
    BRAID_TRY(const Rates replay_alone, Replay());
    BRAID_CHECK_OK(load_.Fill(some));
    BRAID_TRY(const Rates replay_loaded, UnderLoad([this] { return Replay(); }));
    BRAID_TRY(const double appends_alone, Appends());
    BRAID_TRY(const Rates verify_alone, Verify());
    BRAID_TRY(const Rates verify_loaded, UnderLoad([this] { return Verify(); }));
    return std::vector<LedgerRecoveryRow>{
        RowOf(LedgerRead::kVerify, verify_alone, verify_loaded, appends_alone),
        RowOf(LedgerRead::kReplay, replay_alone, replay_loaded, appends_alone),
    };
  }

 private:
  struct Rates {
    int64_t records = 0;
    double seconds = 0;
    double appends = 0;  // a second, meanwhile
    double rate() const { return static_cast<double>(records) / std::max(seconds, 1e-9); }
  };

  static LedgerRecoveryRow RowOf(LedgerRead what, const Rates& alone, const Rates& loaded, double appends_alone) {
    return {.what = what,
            .records = loaded.records,
            .seconds = loaded.seconds,
            .rate = loaded.rate(),
            .rate_alone = alone.rate(),
            .appends = loaded.appends,
            .appends_alone = appends_alone};
  }

  double AtLeast() const { return std::min(kSecondsAtLeast, options_.seconds_max); }

  Result<Rates> Replay() {
    const Clock::time_point start = Clock::now();
    BRAID_TRY(const settlement::FollowReport report, views_.Follow());
    if (!report.ok()) return Status(Code::kInternalError, StrCat("replay: ", report.damage.front().what));
    return Rates{.records = report.records, .seconds = SecondsSince(start)};
  }

  Result<Rates> Verify() {
    Rates rates;
    const Clock::time_point start = Clock::now();
    do {
      BRAID_TRY(const VerifyReport report, chains_.Verify({}));
      if (!report.ok()) return Status(Code::kInternalError, StrCat("verification: ", report.damage.front().what));
      rates.records += report.records;
      rates.seconds = SecondsSince(start);
    } while (rates.seconds < AtLeast() && !options_.stop->load());
    return rates;
  }

  Result<double> Appends() {
    BRAID_TRY(const Rates rates, UnderLoad([this]() -> Result<Rates> {
                const Clock::time_point start = Clock::now();
                std::this_thread::sleep_for(std::chrono::duration<double>(AtLeast()));
                return Rates{.seconds = SecondsSince(start)};
              }));
    return rates.appends;
  }

  template <typename Reading>
  Result<Rates> UnderLoad(const Reading& reading) {
    load_.Start();
    const uint64_t before = load_.appended();
    Result<Rates> rates = reading();
    const uint64_t after = load_.appended();
    BRAID_CHECK_OK(load_.Stop());
    if (rates.ok()) rates->appends = static_cast<double>(after - before) / std::max(rates->seconds, 1e-9);
    return rates;
  }

  const LedgerOptions& options_;
  Chains& chains_;
  settlement::Views& views_;
  Load& load_;
};

}  // namespace

Result<std::vector<LedgerRecoveryRow>> MeasureRecovery(Clients& clients, const LedgerOptions& options) {
  BRAID_TRY(const std::unique_ptr<Chains> chains, Chains::Open(clients, {.database = options.database}));
  const ChainWritersOptions how{.writers = options.most_writers(), .batch_records_max = options.largest_batch()};
  BRAID_TRY(const std::unique_ptr<ChainWriters> writers, ChainWriters::Start(*chains, how));
  BRAID_TRY(const std::unique_ptr<settlement::Views> views,
            settlement::Views::Open(clients, {.database = options.database, .stop = options.stop}));
  Load load(*writers, options, options.in_flight_of(how.writers, how.batch_records_max));
  BRAID_TRY(std::vector<LedgerRecoveryRow> rows, Recovery(options, *chains, *views, load).Run());
  BRAID_CHECK_OK(writers->Stop());
  BRAID_TRY(const VerifyReport report, chains->Verify({}));
  if (report.ok() && report.records == static_cast<int64_t>(load.appended())) return rows;
  return Status(Code::kInternalError,
                StrCat("after recoveries during load: ", load.appended(), " records were acknowledged, ",
                       report.records, " are there; ", report.damaged, " damaged"));
}

}  // namespace braid::bench
