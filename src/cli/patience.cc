#include "cli/patience.h"

#include <mongoc/mongoc.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>

#include "base/mutex.h"
#include "base/strings.h"
#include "cli/transfer/progress.h"
#include "client/handles.h"

namespace braid::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::atomic<bool> stopped{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

constexpr milliseconds kLookEvery(50);  // a signal handler can set a flag, but not wake us
constexpr milliseconds kPingEvery(250);
constexpr int32_t kPingTimeoutMs = 1000;
constexpr milliseconds kAwayAfter(1000);
constexpr milliseconds kSaidEvery(5000);
constexpr milliseconds kEndsWithin(1800);  // two seconds, including the time of the exit itself

int64_t SecondsSince(steady_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::seconds>(steady_clock::now() - time).count();
}

}  // namespace

const std::atomic<bool>& StopOnInterrupt() {
  struct sigaction action {};
  action.sa_handler = [](int) { stopped = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction hang_up {};
  sigaction(SIGHUP, nullptr, &hang_up);
  if (hang_up.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);  // ignored under nohup
  signal(SIGUSR1, SIG_IGN);  // reopens a server's log file; there is none here
  return stopped;
}

// Asks the server now and then, on a thread of its own that may wait for it.
class Patience::Pinger {
 public:
  explicit Pinger(client::UriPtr uri) : uri_(std::move(uri)) {
    for (const char* const option :
         {MONGOC_URI_CONNECTTIMEOUTMS, MONGOC_URI_SOCKETTIMEOUTMS, MONGOC_URI_SERVERSELECTIONTIMEOUTMS}) {
      mongoc_uri_set_option_as_int32(uri_.get(), option, kPingTimeoutMs);
    }
    const mongoc_host_list_t* const first = mongoc_uri_get_hosts(uri_.get());
    if (first != nullptr) host_ = first->host_and_port;
    thread_ = std::thread([this] { Run(); });
  }
  ~Pinger() {
    {
      const MutexLock lock(mu_);
      done_ = true;
    }
    wake_.NotifyAll();
    thread_.join();
  }
  Pinger(const Pinger&) = delete;
  Pinger& operator=(const Pinger&) = delete;

  const std::string& host() const { return host_; }
  steady_clock::time_point answered_at() const {
    const MutexLock lock(mu_);
    return answered_at_;
  }
  std::string why() const {
    const MutexLock lock(mu_);
    return why_;
  }

 private:
  void Run() {
    client::Bson ping;
    ping.Integer("ping", 1);
    client::ClientPtr client;
    MutexLock lock(mu_);
    do {
      lock.Unlock();
      // A client that has failed would wait before it tries to connect again.
      if (client == nullptr) client.reset(mongoc_client_new_from_uri(uri_.get()));
      bson_error_t error{};
      const bool answered = client != nullptr &&
                            mongoc_client_command_simple(client.get(), "admin", ping.get(), nullptr, nullptr, &error);
      // Any answer shows that the server is reachable.
      const bool there = answered || error.domain == MONGOC_ERROR_SERVER;
      if (!there) client.reset();
      lock.Lock();
      if (there) answered_at_ = steady_clock::now();
      why_ = there ? "" : error.message;
    } while (!wake_.WaitFor(lock, kPingEvery, [this]() BRAID_REQUIRES(mu_) { return done_; }));
  }

  const client::UriPtr uri_;
  std::string host_;
  mutable Mutex mu_;
  CondVar wake_;
  bool done_ BRAID_GUARDED_BY(mu_) = false;
  steady_clock::time_point answered_at_ BRAID_GUARDED_BY(mu_) = steady_clock::now();
  std::string why_ BRAID_GUARDED_BY(mu_);
  std::thread thread_;
};

Patience::Patience(const std::string& store, const PatienceOptions& options) : options_(options) {
  if (store.starts_with("mongodb")) {
    client::InitOnce();
    client::UriPtr uri(mongoc_uri_new(store.c_str()));
    if (uri != nullptr)
      pinger_ = std::make_unique<Pinger>(std::move(uri));  // otherwise opening the store reports the reason
  }
  if (pinger_ != nullptr || options_.stop != nullptr) thread_ = std::thread([this] { Watch(); });
}

Patience::~Patience() {
  {
    const MutexLock lock(mu_);
    done_ = true;
  }
  wake_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

void Patience::Watch() {
  MutexLock lock(mu_);
  while (!wake_.WaitFor(lock, kLookEvery, [this]() BRAID_REQUIRES(mu_) { return done_; })) {
    lock.Unlock();
    if (pinger_ != nullptr) WatchServer();
    if (options_.stop != nullptr) WatchInterrupt();
    lock.Lock();
  }
}

void Patience::WatchServer() {
  const auto answered_at = pinger_->answered_at();
  const auto now = steady_clock::now();
  if (now - answered_at < kAwayAfter) {
    if (away_) transfer::PrintLine(StrCat("the server ", pinger_->host(), " answers again"));
    away_ = false;
    return;
  }
  if (away_ && now - said_at_ < kSaidEvery) return;
  const std::string why = pinger_->why();
  const bool news = !away_ || why != said_why_;
  transfer::PrintLine(StrCat("the server ", pinger_->host(), " has not answered for ", SecondsSince(answered_at),
                             " s; trying again", news && !why.empty() ? StrCat(" (", why, ")") : ""));
  away_ = true;
  said_at_ = now;
  said_why_ = why;
}

void Patience::WatchInterrupt() {
  if (!options_.stop->load()) return;
  if (!interrupted_) {
    interrupted_ = true;
    interrupted_at_ = steady_clock::now();
    transfer::PrintLine(
        options_.ends_soon ? "interrupted: ends when the current work is done, within two seconds"
                           : "interrupted: ends when all accepted input is processed; a second interrupt ends at once");
  }
  if (!options_.ends_soon || steady_clock::now() - interrupted_at_ < kEndsWithin) return;
  constexpr const char* kMessage =
      "interrupted; unfinished work was given up, and the same command continues from there";
  if (options_.json) {
    std::printf(R"({"ok":false,"error":{"code":"Interrupted","message":"%s"}})"
                "\n",
                kMessage);
    std::fflush(stdout);
  }
  transfer::PrintLine(kMessage);
  _exit(1);
}

}  // namespace braid::cli
