// Profiler: decides which operations are recorded, in the log and in system.profile.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/random.h"
#include "engine/commands/operation_record.h"
#include "engine/commands/profile_writer.h"
#include "engine/language/match/filter.h"

namespace braid::commands {

/// The settings of `profile`. Level and filter are per database, the rest is per server, as in MongoDB.
struct ProfileSettings {
  int level = 0;  // 0: nothing in system.profile, 1: slow operations, 2: all of them
  int64_t slow_millis = 100;
  double sample_rate = 1.0;              // of slow operations
  std::optional<bson::Document> filter;  // set: decides alone which operations are written down
};

struct ProfilerOptions {
  int64_t slow_millis = 100;
  bool logs = false;  // slow operations go to the log, too
};

/// In memory only: a restart begins with level 0 everywhere, as MongoDB. Any thread.
class Profiler {
 public:
  Profiler(txn::Shared& shared, const ProfilerOptions& options);

  ProfileSettings Get(std::string_view database) const;
  /// kBadValue for a filter that is none; then nothing has changed.
  Status Set(std::string_view database, const ProfileSettings& settings);
  /// The database is dropped: level 0, no filter.
  void Forget(std::string_view database);

  /// The moment from which an operation that starts now is recorded; max() if it will not be.
  std::chrono::steady_clock::time_point RecordedFrom(std::string_view database,
                                                     std::chrono::steady_clock::time_point started) const;
  /// Records an operation that has ended after that moment.
  void Record(const OperationRecord& record);

  ProfileWriter& writer() { return writer_; }

 private:
  struct Own {
    int level = 0;
    std::optional<bson::Document> filter_text;
    query::Filter filter;
  };
  /// Null if nothing was set.
  const Own* Find(std::string_view database) const BRAID_REQUIRES_SHARED(mu_);
  bool IsSampled();

  const bool logs_;
  std::atomic<int64_t> slow_millis_;
  std::atomic<double> sample_rate_{1.0};
  std::atomic<bool> any_{false};  // `own_` is not empty
  mutable SharedMutex mu_;
  std::map<std::string, Own, std::less<>> own_ BRAID_GUARDED_BY(mu_);  // databases with a level or a filter
  Mutex random_mu_;
  Random random_ BRAID_GUARDED_BY(random_mu_);
  ProfileWriter writer_;
};

}  // namespace braid::commands
