// Metrics in the text format of Prometheus: the figures of the HTTP server itself, of the store and of the services.
#pragma once

#include <bson/bson.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/mutex.h"
#include "http/server.h"

namespace braid::http {

class Api;

/// Writes families of samples: https://prometheus.io/docs/instrumenting/exposition_formats/
class Exposition {
 public:
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  /// Starts a family; its samples come next. `type` is counter, gauge or histogram.
  void Family(std::string_view name, std::string_view type, std::string_view help);
  /// `suffix` is what a histogram's samples have behind the name.
  void Sample(double value, Labels labels = {}, std::string_view suffix = {});
  const std::string& text() const { return text_; }

 private:
  std::string name_;
  std::string text_;
};

/// Counts of values up to each bound, as in Prometheus's histograms. Any thread.
class Histogram {
 public:
  static constexpr std::array<double, 12> kSeconds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                      0.05,   0.1,   0.25,   1,     2.5,  10};
  void Add(std::chrono::nanoseconds duration);
  /// The samples of a histogram whose family was started.
  void Write(Exposition& out, std::string_view label, std::string_view value) const;

 private:
  std::array<std::atomic<uint64_t>, kSeconds.size() + 1> counts_{};
  std::atomic<uint64_t> nanoseconds_ = 0;
};

/// Figures of the requests. Any thread.
class HttpMetrics {
 public:
  void Began() { ++running_; }
  /// `route` is the pattern of the path, or empty; `status` 0: the client was gone.
  void Ended(std::string_view route, std::string_view method, unsigned status, std::chrono::nanoseconds duration,
             uint64_t bytes_read, uint64_t bytes_written);
  void Write(const Server::Figures& connections, Exposition& out) const;

 private:
  std::atomic<int64_t> running_ = 0;
  std::atomic<uint64_t> bytes_read_ = 0;
  std::atomic<uint64_t> bytes_written_ = 0;
  mutable Mutex mu_;
  std::map<std::tuple<std::string, std::string, unsigned>, uint64_t> requests_ BRAID_GUARDED_BY(mu_);
  std::map<std::string, Histogram> durations_ BRAID_GUARDED_BY(mu_);
};

/// The figures of the store, which the engine has counted; `server_status` is the reply of the command serverStatus.
void WriteEngineMetrics(const bson_t& server_status, Exposition& out);

/// The explorer's progress and the state of the settlement log's chains, read from the store. A service that the store
/// does not have gives families without samples, and one that cannot be read is skipped: the other metrics are
/// especially useful then.
void WriteServiceMetrics(Api& api, Exposition& out);

}  // namespace braid::http
