#include "http/live.h"

#include <algorithm>

#include "base/mutex.h"
#include "base/strings.h"

namespace braid::http {
namespace {

// How soon a browser reconnects after a lost connection.
constexpr std::string_view kRetryEvent = "retry: 1000\n\n";

int64_t NowMillisOfLive() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

}  // namespace

class Live::Listener final : public Feed {
 public:
  Listener(Live& live, int64_t after) : live_(live), after_(after) {}
  ~Listener() override {
    const MutexLock lock(live_.mu_);
    live_.listeners_.erase(this);
  }

  void Take(std::string& out) override {
    if (!greeted_) out += kRetryEvent;
    greeted_ = true;
    const MutexLock lock(live_.mu_);
    for (const Sample& sample : live_.samples_) {
      if (sample.number <= after_) continue;
      out += *sample.event;
      after_ = sample.number;
    }
  }

  void Listen(std::function<void()> wake) override {
    const MutexLock lock(live_.mu_);
    live_.listeners_[this] = std::move(wake);
    live_.changed_.NotifyAll();
  }

 private:
  Live& live_;
  int64_t after_;
  bool greeted_ = false;
};

Live::Live(LiveOptions options, std::function<std::string()> sample)
    : options_(options), sample_(std::move(sample)), thread_([this] { Run(); }) {}

Live::~Live() {
  Stop();
  thread_.join();
}

void Live::Stop() {
  const MutexLock lock(mu_);
  stop_ = true;
  changed_.NotifyAll();
}

std::unique_ptr<Feed> Live::Listen(int64_t after, size_t history) {
  const MutexLock lock(mu_);
  // A number newer than all of ours means that the clock was set back: such a client gets the samples from now on.
  const int64_t newest = samples_.empty() ? 0 : samples_.back().number;
  if (after == 0 && history < samples_.size()) after = samples_[samples_.size() - history - 1].number;
  return std::make_unique<Listener>(*this, std::min(after, newest));
}

void Live::Add(const std::string& json) {
  const MutexLock lock(mu_);
  int64_t number = NowMillisOfLive();
  if (!samples_.empty()) number = std::max(number, samples_.back().number + 1);
  auto event = std::make_shared<const std::string>(StrCat("id: ", number, "\ndata: ", json, "\n\n"));
  samples_.push_back({.number = number, .event = std::move(event)});
  if (samples_.size() > options_.kept) samples_.pop_front();
  for (const auto& [listener, wake] : listeners_) wake();
}

void Live::Run() {
  auto next = std::chrono::steady_clock::now();
  for (;;) {
    {
      MutexLock lock(mu_);
      changed_.Wait(lock, [this]() BRAID_REQUIRES(mu_) { return stop_ || !listeners_.empty(); });
      changed_.WaitUntil(lock, next, [this]() BRAID_REQUIRES(mu_) { return stop_; });
      if (stop_) return;
    }
    // Periods that a slow sample has missed are skipped.
    next = std::max(next + options_.period, std::chrono::steady_clock::now() + options_.period / 2);
    Add(sample_());
  }
}

}  // namespace braid::http
