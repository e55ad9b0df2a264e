// Engines (C11): the same lines through the settlement service, in this process and over TCP.
#include <time.h>

#include <atomic>
#include <boost/asio.hpp>
#include <chrono>
#include <thread>

#include "base/mutex.h"
#include "base/strings.h"
#include "bench/ledger_runs.h"
#include "services/settlement/generator.h"
#include "services/settlement/listener.h"

namespace braid::bench {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;
using asio::ip::tcp;
using settlement::Outcome;

constexpr size_t kSendBytes = 64 * 1024;
constexpr size_t kReplyBytes = 8 + 1 + 32;  // of an output that is stored; any other ends the run

int64_t ThreadCpuMicros() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1'000'000 + time.tv_nsec / 1000;
}

/// The shared state of all engines, and the results of their outputs.
class Run {
 public:
  Run(const LedgerOptions& options, uint64_t in_flight_each)
      : in_flight_each(in_flight_each),
        stop_(*options.stop),
        end_(Clock::now() + std::chrono::microseconds(static_cast<int64_t>(options.seconds_max * 1e6))) {}

  bool Ended() const { return Clock::now() >= end_ || stop_.load() || failed_.load(); }
  void Add(const Histogram& micros) {
    const MutexLock lock(mu_);
    micros_.Merge(micros);
  }
  void Fail(Status status) {
    failed_ = true;
    const MutexLock lock(mu_);
    if (failure_.ok()) failure_ = std::move(status);
  }
  Status failure() {
    const MutexLock lock(mu_);
    return failure_;
  }
  Histogram micros() {
    const MutexLock lock(mu_);
    return micros_;
  }

  const uint64_t in_flight_each;
  std::atomic<int64_t> clients_cpu = 0;  ///< of threads that are no part of the service

 private:
  const std::atomic<bool>& stop_;
  const Clock::time_point end_;
  std::atomic<bool> failed_ = false;
  Mutex mu_;
  Histogram micros_ BRAID_GUARDED_BY(mu_);
  Status failure_ BRAID_GUARDED_BY(mu_);
};

/// When each output was sent.
class Stopwatch {
 public:
  explicit Stopwatch(size_t outputs) : since_(outputs) {}
  void Start(size_t i) { since_[i].store(Now(), std::memory_order_relaxed); }
  uint64_t Micros(size_t i) const { return static_cast<uint64_t>(Now() - since_[i].load(std::memory_order_relaxed)); }

 private:
  static int64_t Now() {
    return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now().time_since_epoch()).count();
  }
  std::vector<std::atomic<int64_t>> since_;
};

void SubmitInProcess(settlement::Settlement& service, const std::vector<std::string>& lines, Run& run) {
  Window window(run.in_flight_each);
  Stopwatch watch(lines.size());
  Histogram micros;  // only under the window's lock until all are answered
  settlement::Intake intake(service, [&](const settlement::Answer& answer) {
    if (answer.outcome != Outcome::kAccepted) run.Fail(answer.status);
    window.Leave([&] { micros.Record(watch.Micros(answer.number - 1)); });
  });
  for (size_t i = 0; i < lines.size() && !run.Ended(); ++i) {
    window.Enter();
    watch.Start(i);
    intake.Submit(lines[i]);
  }
  intake.Flush();
  run.Add(micros);
}

/// One connection: sends on this thread, reads replies on another.
class TcpEngine {
 public:
  TcpEngine(uint16_t port, const std::vector<std::string>& lines, Run& run)
      : port_(port), lines_(lines), run_(run), window_(run.in_flight_each), watch_(lines.size()), socket_(context_) {}

  void Work() {
    boost::system::error_code error;
    socket_.connect({asio::ip::address_v4::loopback(), port_}, error);
    if (error) return run_.Fail(Status(Code::kSocketException, StrCat("connect: ", error.message())));
    socket_.set_option(tcp::no_delay(true), error);
    std::thread reader([this] { Read(); });
    Send();
    socket_.shutdown(tcp::socket::shutdown_send, error);
    reader.join();
    if (answered_ != sent_) {
      run_.Fail(Status(Code::kSocketException, StrCat(sent_, " outputs were sent, ", answered_, " answered")));
    }
    run_.clients_cpu += ThreadCpuMicros();
  }

 private:
  // As many messages at once as may be under way, up to kSendBytes.
  void Send() {
    std::string bytes;
    for (size_t i = 0; i < lines_.size() && !run_.Ended(); ++i) {
      if (!window_.TryEnter()) {
        Flush(bytes);
        window_.Enter();
      }
      const auto size = __builtin_bswap32(static_cast<uint32_t>(lines_[i].size()));
      bytes.append(reinterpret_cast<const char*>(&size), sizeof(size));
      bytes += lines_[i];
      watch_.Start(i);
      ++sent_;
      if (bytes.size() >= kSendBytes) Flush(bytes);
    }
    Flush(bytes);
  }

  void Flush(std::string& bytes) {
    boost::system::error_code error;
    asio::write(socket_, asio::buffer(bytes), error);
    if (error) run_.Fail(Status(Code::kSocketException, StrCat("send: ", error.message())));
    bytes.clear();
  }

  void Read() {
    Histogram micros;
    std::string buffer(kSendBytes, '\0');
    size_t have = 0;
    boost::system::error_code error;
    while (!error) {
      have += socket_.read_some(asio::buffer(buffer.data() + have, buffer.size() - have), error);
      size_t used = 0;
      for (; have - used >= kReplyBytes; used += kReplyBytes) {
        const auto outcome = static_cast<Outcome>(buffer[used + 8]);
        if (outcome != Outcome::kAccepted) {
          run_.Fail(Status(Code::kInternalError, StrCat("a new output was ", NameOf(outcome))));
          return window_.Open();
        }
        micros.Record(watch_.Micros(answered_++));
        window_.Leave();
      }
      buffer.copy(buffer.data(), have - used, used);
      have -= used;
    }
    window_.Open();
    run_.Add(micros);
    run_.clients_cpu += ThreadCpuMicros();
  }

  const uint16_t port_;
  const std::vector<std::string>& lines_;
  Run& run_;
  Window window_;
  Stopwatch watch_;
  asio::io_context context_;
  tcp::socket socket_;
  size_t sent_ = 0;
  size_t answered_ = 0;  // of the reader, until it has ended
};

// A symbol's outputs must come in their order, so each symbol has one engine.
std::vector<std::vector<std::string>> LinesOf(const LedgerOptions& options, uint32_t engines) {
  settlement::Generator generator({.symbols = options.symbols, .seed = options.seed});
  std::vector<std::vector<std::string>> lines(engines);
  for (uint64_t i = 0; i < options.records; ++i) {
    const settlement::Output output = generator.Next();
    lines[static_cast<uint64_t>(output.symbol_id()) % engines].push_back(ToJson(output));
  }
  return lines;
}

}  // namespace

Status MeasureEngines(Clients& clients, const LedgerOptions& options, LedgerEngineRow& row) {
  const std::vector<std::vector<std::string>> lines = LinesOf(options, row.engines);
  settlement::Options how;
  how.database = options.database;
  how.writers.writers = options.most_writers();
  how.writers.batch_records_max = options.largest_batch();
  BRAID_TRY(const std::unique_ptr<settlement::Settlement> service, settlement::Settlement::Open(clients, how));
  std::unique_ptr<settlement::Listener> listener;
  if (row.tcp) {
    BRAID_TRY(listener, settlement::Listener::Open(*service, {.connections_max = row.engines}));
  }
  row.in_flight = options.in_flight_of(how.writers.writers, how.writers.batch_records_max);
  BRAID_TRY(const std::optional<int64_t> server_before, ServerCpuMicros(clients));
  const int64_t own_before = OwnCpuMicros();
  const Clock::time_point start = Clock::now();
  Run run(options, std::max<uint64_t>(1, row.in_flight / row.engines));
  std::vector<std::thread> engines;
  engines.reserve(lines.size());
  for (const std::vector<std::string>& part : lines) {
    engines.emplace_back(
        [&] { row.tcp ? TcpEngine(listener->port(), part, run).Work() : SubmitInProcess(*service, part, run); });
  }
  for (std::thread& engine : engines) engine.join();
  row.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const int64_t own = OwnCpuMicros() - own_before - run.clients_cpu.load();
  BRAID_TRY(const std::optional<int64_t> server_after, ServerCpuMicros(clients));
  listener.reset();
  BRAID_CHECK_OK(run.failure());

  row.outputs = run.micros().count();
  row.server_cpu = server_after.has_value();
  const int64_t cpu = own + server_after.value_or(0) - server_before.value_or(0);
  if (row.outputs > 0) row.cpu_micros = static_cast<double>(cpu) / static_cast<double>(row.outputs);
  SetLatencies(run.micros(), row);
  BRAID_TRY(const VerifyReport report, service->chains().Verify({}));
  if (report.ok() && report.records == static_cast<int64_t>(row.outputs)) return {};
  return Status(Code::kInternalError,
                StrCat("after ", row.engines, " engines: ", row.outputs, " outputs were acknowledged, ", report.records,
                       " are there; ", report.damaged, " damaged"));
}

}  // namespace braid::bench
