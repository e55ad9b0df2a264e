// LiveSampler: makes the samples of the running server. The engine and the services count; this computes differences.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "client/handles.h"

namespace braid::http {

class Api;

/// One thread.
class LiveSampler {
 public:
  explicit LiveSampler(Api& api) : api_(api) {}

  /// A JSON object: rates per second and percentiles since the previous sample, and current values. If the store does
  /// not answer: {"error": …}.
  std::string Sample();

 private:
  void AppendRates(const bson_t& status, client::Bson& json);
  void AppendLatencies(const bson_t& status, client::Bson& json);
  std::string ServicesJson();

  Api& api_;
  client::BsonPtr before_;  // serverStatus of the sample before; null: there is none that is recent enough
  std::chrono::steady_clock::time_point sampled_at_;
  double seconds_ = 0;  // that the rates are over; 0: there are none
  std::string services_ = "{}";
  std::chrono::steady_clock::time_point services_due_;
};

struct LatencyBucket {
  int64_t lower_micros = 0;
  int64_t count = 0;
};
/// The upper bound, in microseconds, of the bucket that the fraction of all is reached in; of the last bucket its lower
/// bound; 0 if there are none. The buckets are ascending.
int64_t PercentileOf(const std::vector<LatencyBucket>& buckets, double fraction);

/// A JSON object with a field per service, null where the store has none of its data.
std::string LiveServices(Api& api);

}  // namespace braid::http
