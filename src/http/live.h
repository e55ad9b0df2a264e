// Live: figures of the running server, once per second, for all listeners.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "http/message.h"

namespace braid::http {

struct LiveOptions {
  std::chrono::milliseconds period{1000};
  /// The number of samples that are kept for new and returning listeners.
  size_t kept = 300;
};

/// One thread samples for all listeners, and only while there are any. A sample is made into text once; samples that a
/// listener has not taken stay in the list, whose length is fixed, and nothing is buffered per listener. Any thread.
class Live {
 public:
  /// `sample` gives a JSON object and is called on Live's thread. The time of a sample, in milliseconds since 1970, is
  /// its number, so that numbers go on after a restart.
  Live(LiveOptions options, std::function<std::string()> sample);
  ~Live();  ///< Every feed must be gone.

  /// Server-sent events: the samples after the number `after`, or, if that is 0, the newest `history` ones; then each
  /// new one. It must not outlive this object.
  std::unique_ptr<Feed> Listen(int64_t after, size_t history);
  /// No sample is begun after this.
  void Stop();

 private:
  class Listener;
  struct Sample {
    int64_t number = 0;
    std::shared_ptr<const std::string> event;
  };
  void Run();
  void Add(const std::string& json);

  const LiveOptions options_;
  const std::function<std::string()> sample_;
  Mutex mu_;
  CondVar changed_;
  bool stop_ BRAID_GUARDED_BY(mu_) = false;
  std::deque<Sample> samples_ BRAID_GUARDED_BY(mu_);  // ascending
  std::map<Listener*, std::function<void()>> listeners_ BRAID_GUARDED_BY(mu_);
  std::thread thread_;
};

}  // namespace braid::http
