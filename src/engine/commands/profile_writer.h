// ProfileWriter: puts the profiler's entries into system.profile, behind the operations that they are about.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/seldom.h"
#include "engine/txn/context.h"

namespace braid::commands {

/// The collection of a database that has the profiler's entries, oldest first. It is the only one that is capped.
constexpr std::string_view kProfileCollection = "system.profile";
constexpr int64_t kProfileBytesDefault = 1 << 20;
constexpr int64_t kProfileBytesMax = 1 << 30;

/// A bounded queue and a thread that empties it: adding an entry never waits for the store. When the queue is full,
/// entries are dropped and counted. Any thread.
class ProfileWriter {
 public:
  explicit ProfileWriter(txn::Shared& shared);
  ~ProfileWriter();  ///< writes the queued entries, and joins

  void Add(std::string database, bson::Document entry);
  /// Waits until all earlier entries are in their collection, at most one second: called before the collection is read.
  void Flush();
  /// Forgets the queued entries of a database that is dropped or no longer profiled.
  void Forget(std::string_view database);

  struct Figures {
    uint64_t written = 0;
    uint64_t dropped = 0;
  };
  Figures figures() const;

  /// Makes the collection if there is none.
  static Result<catalog::CollectionPtr> Ensure(txn::Shared& shared, std::string_view database);

 private:
  struct Entry {
    std::string database;
    bson::Document document;
  };
  void Loop();
  std::vector<Entry> TakeBatch() BRAID_REQUIRES(mu_);
  Status Write(const std::vector<Entry>& batch);
  Status Insert(const catalog::CollectionPtr& collection, txn::Operation& operation, const std::vector<Entry>& batch);
  Status Trim(const catalog::CollectionPtr& collection, txn::Operation& operation);

  txn::Shared& shared_;
  Seldom failures_;
  mutable Mutex mu_;
  CondVar more_;
  CondVar idle_;
  std::deque<Entry> entries_ BRAID_GUARDED_BY(mu_);
  size_t bytes_ BRAID_GUARDED_BY(mu_) = 0;     // of the entries
  uint64_t added_ BRAID_GUARDED_BY(mu_) = 0;   // ever
  uint64_t passed_ BRAID_GUARDED_BY(mu_) = 0;  // of these: written, failed or forgotten
  bool writing_ BRAID_GUARDED_BY(mu_) = false;
  bool stopping_ BRAID_GUARDED_BY(mu_) = false;
  uint64_t written_ BRAID_GUARDED_BY(mu_) = 0;
  uint64_t dropped_ BRAID_GUARDED_BY(mu_) = 0;
  std::thread thread_;
};

/// An error for the profiler's collection: only the profiler writes to it.
Status CheckNotProfile(const catalog::Namespace& ns);

}  // namespace braid::commands
