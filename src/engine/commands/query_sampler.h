// QuerySampler: operations of chosen collections, recorded so that a shard key can be judged by them
// (configureQueryAnalyzer, $listSampledQueries).
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "braid/clock.h"
#include "engine/bson/builder.h"
#include "engine/catalog/collection.h"

namespace braid::commands {

struct EngineParts;
struct Request;

struct SamplingConfiguration {
  bool full = false;
  double samples_per_second = 0;
};

/// Any thread. In memory only: a restart forgets the configuration and the samples. A collection keeps its newest
/// kSamplesMax samples, at most kBytesMax of them, for kKept; a drop or a rename ends its recording.
class QuerySampler {
 public:
  static constexpr size_t kSamplesMax = 10'000;
  static constexpr size_t kBytesMax = 16u << 20;
  static constexpr size_t kSampleBytesMax = 1u << 20;  // a larger one is not kept
  static constexpr std::chrono::milliseconds kKept = std::chrono::hours(24 * 7);

  explicit QuerySampler(const Clock& clock) : clock_(clock) {}

  /// False if nothing is recorded: then no other function need be called. This is the only cost of the class while it
  /// is not used.
  bool active() const { return active_.load(std::memory_order_relaxed); }

  /// Returns what was configured before, if anything was.
  std::optional<SamplingConfiguration> Configure(const catalog::Collection& collection,
                                                 const SamplingConfiguration& wanted);
  /// How many of `wanted` operations that run now may be recorded.
  size_t Take(const catalog::Collection& collection, size_t wanted);
  /// Records an operation that Take() has allowed.
  void Add(const catalog::Collection& collection, std::string_view command, const bson::Document& details);

  /// {_id, ns, collectionUuid, cmdName, cmd, expireAt}, the oldest of a collection first. Empty `ns`: of all.
  std::vector<bson::Document> List(std::string_view ns) const;

  /// Forgets what is too old, and collections that are gone.
  void Sweep();

 private:
  struct Sample {
    std::string ns;
    int64_t expires_millis;
    bson::Document row;
  };
  struct Recording {
    catalog::Namespace ns;
    std::shared_ptr<const catalog::CollectionState> state;
    SamplingConfiguration configuration;
    // The bucket: refilled by samples_per_second, never above one second's worth (but for a whole sample).
    double tokens = 0;
    std::chrono::steady_clock::time_point refilled;
    std::deque<Sample> samples;
    size_t bytes = 0;

    void DropOldest();
  };
  void Refill(Recording& recording) const;
  void CountActive() BRAID_REQUIRES(mu_);

  const Clock& clock_;
  std::atomic<bool> active_{false};
  mutable Mutex mu_;
  std::map<std::string, Recording, std::less<>> recordings_ BRAID_GUARDED_BY(mu_);  // by the collection's uuid
};

/// Records the part of a command that matters for choosing a shard key (record_query.cc): which documents it asks for,
/// not what it stores. For commands that have run, if their collection is recorded. Call it only while the sampler is
/// active().
void RecordQuery(EngineParts& engine, const Request& request);

}  // namespace braid::commands
