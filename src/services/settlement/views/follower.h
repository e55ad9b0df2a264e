// Follower: a thread that keeps the views up to the log while it grows (C8).
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "services/settlement/views/views.h"

namespace braid::settlement {

struct FollowerOptions {
  /// The interval between looks at the log: a shorter one keeps the views closer to the log, but costs the store more
  /// per output. Default 100 ms, 1..60000.
  std::chrono::milliseconds interval{100};
  /// The wait between attempts while the store fails: it doubles from the first value up to the second. Default 100 ms,
  /// 5 s; 1..60000.
  std::chrono::milliseconds retry_first{100};
  std::chrono::milliseconds retry_most{5000};
  /// Called once for each chain that cannot be applied any further. On the follower's thread; may be empty.
  std::function<void(const ChainDamage& damage)> on_damage;
  /// Called when the store begins to fail, and when a view cannot be exact any more. As on_damage.
  std::function<void(const Status& why)> on_failure;
  Status Validate() const;
};

struct FollowerFigures {
  int64_t records = 0;      ///< read and applied so far, if only by another follower meanwhile
  int64_t behind = 0;       ///< records that the log has and some view has not, as of the latest look
  int64_t applied_seq = 0;  ///< the newest output of the view that is farthest behind
  int64_t failures = 0;     ///< of the store
  std::string last_error;   ///< while the store fails
};

/// Several followers may follow one log, in one process or in many. While the store fails, it retries. A damaged chain
/// is applied up to the damage, a view up to the record whose sum would not be exact; all others continue. Any thread.
class Follower {
 public:
  /// The Clients must outlive it. `stop` of the views is not used: Stop() is.
  static Result<std::unique_ptr<Follower>> Start(Clients& clients, ViewsOptions views, const FollowerOptions& options);
  /// Calls Stop().
  ~Follower();
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  struct CatchUpOptions {
    /// How long it retries while the store fails.
    std::chrono::milliseconds patience{30'000};
    /// Stops it at once when it becomes true; may be null.
    const std::atomic<bool>* stop = nullptr;
  };
  /// Applies everything that is durable now, and ends. kRecordDamaged: a chain cannot be applied to its end. kOverflow:
  /// a view cannot. kInterrupted: it was stopped. Otherwise the error of the store.
  Status CatchUp(const CatchUpOptions& options);
  Status CatchUp() { return CatchUp(CatchUpOptions()); }

  /// Ends after the running transactions. The next follower continues from there.
  void Stop();

  /// Whether it has ended, by itself if the store failed for good (Clients::MayRecover): CatchUp() says why.
  bool ended() const;
  FollowerFigures figures() const;
  /// OK, or what cannot be applied to its end: kRecordDamaged or kOverflow, as of CatchUp().
  Status health() const;
  /// Chains that could not be applied to their ends, as of the latest look.
  std::vector<ChainDamage> damage() const;
  /// How far each view is now.
  Result<std::vector<ViewProgress>> Progress();

 private:
  explicit Follower(const FollowerOptions& options) : options_(options) {}

  void Run();
  Status Pass();
  Result<FollowReport> FollowSound();
  Status NoteProgress(const std::vector<ChainHead>& heads);
  void NoteDamage(const std::vector<ChainDamage>& damage);
  void NoteFailure(const Status& why);
  void NoteStuck(View view, const Status& why);
  bool HasNews(const std::vector<ChainHead>& heads) const;

  const FollowerOptions options_;
  std::unique_ptr<Views> views_;

  // Of the thread alone.
  std::vector<ChainHead> seen_;  // up to here the latest pass went; empty after a failure
  std::chrono::steady_clock::time_point seen_at_;

  mutable Mutex mu_;
  CondVar wake_;
  std::atomic<bool> stop_ = false;  // changed under mu_
  FollowerFigures figures_ BRAID_GUARDED_BY(mu_);
  std::map<int64_t, ChainDamage> damage_ BRAID_GUARDED_BY(mu_);
  std::map<View, Status> stuck_ BRAID_GUARDED_BY(mu_);                       // views that are not followed any further
  std::optional<std::chrono::milliseconds> patience_ BRAID_GUARDED_BY(mu_);  // set: to catch up and end
  std::chrono::steady_clock::time_point impatient_since_
      BRAID_GUARDED_BY(mu_);  // the store has failed since then, or since it was asked to
  bool ended_ BRAID_GUARDED_BY(mu_) = false;
  Status outcome_ BRAID_GUARDED_BY(mu_);
  std::thread thread_;
};

}  // namespace braid::settlement
