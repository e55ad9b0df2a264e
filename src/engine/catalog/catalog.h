// Catalog: shards, databases, collections, indexes and their options; persisted in the store, held in memory.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/gate.h"
#include "base/mutex.h"
#include "engine/bson/builder.h"
#include "engine/catalog/collection.h"
#include "engine/storage/keys.h"
#include "engine/storage/store.h"

namespace braid::catalog {

/// A shard is a range of the key space (keys.h); its number is never used again.
struct Shard {
  storage::ShardNumber number = 0;
  std::string name;
  bool draining = false;  // removeShard was called: it gets no new documents, and the balancer empties it
  uint64_t added = 0;     // Timestamp
};

/// The shards of this server.
struct Cluster {
  bson::ObjectId id{};
  storage::ShardNumber end = 0;  // above every number ever given
  std::vector<Shard> shards;     // by number

  const Shard* Find(std::string_view name) const;
  const Shard* Find(storage::ShardNumber number) const;
  /// "shard3" unless it was given another name; the number's own name if there is no such shard any more.
  std::string NameOf(storage::ShardNumber number) const;
};

/// The shard of a database's unsharded collections.
struct Database {
  std::string name;
  storage::ShardNumber primary = 0;
  std::string uuid;        // 16 bytes
  uint64_t timestamp = 0;  // when it got its primary shard
  uint32_t moves = 1;      // how many times it got one
};

/// Any thread. Readers get an immutable description; a change is committed to the store before it is seen. A database
/// exists while it has a collection. Numbers of collections and indexes are never reused, so leftover data of a dropped
/// one cannot be mistaken for anything else; a drop is noted in the commit that removes the description, and finished
/// at the next start if it was interrupted.
class Catalog {
 public:
  /// Reads every description; removes the data of unfinished index builds and drops. A new store gets `shards` shards,
  /// and a store with fewer gets more.
  static Result<std::unique_ptr<Catalog>> Load(storage::Store& store, uint32_t shards = 1);

  /// Null if there is none.
  CollectionPtr Find(const Namespace& ns) const;
  CollectionPtr Find(std::string_view database, std::string_view collection) const;
  CollectionPtr FindNumber(uint32_t number) const;
  std::vector<std::string> Databases() const;                               // sorted
  std::vector<CollectionPtr> Collections(std::string_view database) const;  // sorted by name
  std::vector<CollectionPtr> All() const;

  struct Change {
    CollectionPtr collection;
    storage::LogPosition position = 0;  // to be durable before it is acknowledged
    bool created = false;
  };
  /// Every change of a collection that exists waits for its writers of this moment: the caller must not hold its gate.
  /// It waits as `waiter`, with the error of that if it gives up first; null: however long it takes.
  ///
  /// `options` as the create command's: validator, validationLevel, validationAction, collation, …; known options are
  /// checked, the rest are kept. kNamespaceExists if it exists with other options; `created` false if it exists with
  /// the same.
  Result<Change> Create(const Namespace& ns, bson::View options);
  /// Creates the collection with default options if absent, as a first insert does.
  Result<Change> Ensure(const Namespace& ns);
  /// A collection that only one transaction sees: it has a number but is neither stored nor found until Publish.
  Result<std::shared_ptr<Collection>> Draft(const Namespace& ns, bson::View options);
  /// Numbers for indexes of drafts; those that are not used are lost.
  Result<uint32_t> TakeNumberNow();
  /// Adds the drafts' descriptions to `writes`, commits them, and shows the drafts. kWriteConflict if there is a
  /// collection of such a name by now.
  Result<storage::LogPosition> Publish(const std::vector<CollectionPtr>& drafts, storage::WriteSet& writes);
  /// The description it had; null and position 0 if there was no such collection. Its data is gone on return.
  Result<Change> Drop(const Namespace& ns, Waiter* waiter = nullptr);
  /// 26, 48, or 20 for the same name twice.
  Result<Change> Rename(const Namespace& from, const Namespace& to, bool drop_target, Waiter* waiter = nullptr);
  /// A name that nobody else uses, for a collection that is made beside another one to take its place. What is left
  /// under such a name is dropped at the next start.
  static Namespace NewStaging(std::string_view database);
  /// Renames `staging` to `target` in place of `replaced`, which may be null. kCommandFailed if `target` is not as it
  /// was then.
  Result<Change> TakePlace(const Namespace& staging, const Namespace& target, const CollectionPtr& replaced,
                           Waiter* waiter = nullptr);
  /// collMod: `change` sets validator_spec, validation_level, validation_action, or puts an Index::Clone() with another
  /// `hidden` or `expire_after_seconds` into `indexes`; options and the parsed validator follow from these. 26.
  Result<Change> Modify(const Namespace& ns, const std::function<Status(Collection*)>& change,
                        Waiter* waiter = nullptr);

  /// Adds indexes in state `building` (writers maintain them from now on); index_build.h fills them and calls
  /// FinishIndexes or RemoveIndexes. The new ones are the last of `collection->indexes`.
  Result<Change> StartIndexes(const Namespace& ns, std::vector<IndexSpec> specs, Waiter* waiter = nullptr);
  Result<Change> FinishIndexes(const Namespace& ns, const std::vector<uint32_t>& numbers, Waiter* waiter = nullptr);
  /// Also what dropIndexes does. Numbers that are not there are passed over; the entries are gone on return.
  Result<Change> RemoveIndexes(const Namespace& ns, const std::vector<uint32_t>& numbers, Waiter* waiter = nullptr);

  /// Changes the placement of a collection, under its gate: `change` gets a copy, and what is to be committed with it.
  /// 26, or kConflictingOperationInProgress if the collection is not of that number any more.
  Result<Change> Place(const Namespace& ns, uint32_t number,
                       const std::function<Status(sharding::Placement*, storage::WriteSet&)>& change,
                       Waiter* waiter = nullptr);

  // The cluster: shards and databases (cluster.cc).
  Cluster cluster() const;
  std::vector<Shard> shards() const { return cluster().shards; }
  /// The shards that may get new documents, in order: those that are not being drained.
  sharding::ShardNumbers UsableShards() const;
  /// Higher than the number of any shard that ever was.
  storage::ShardNumber shard_end() const;
  Result<storage::LogPosition> ChangeCluster(const std::function<Status(Cluster*)>& change);
  /// The database's record, created if there is none: on `primary` or, without one, on the shard that is primary for
  /// the fewest databases.
  Result<Database> EnsureDatabase(std::string_view name, std::optional<storage::ShardNumber> primary,
                                  storage::LogPosition* position);
  std::optional<Database> FindDatabase(std::string_view name) const;
  std::vector<Database> DatabaseRecords() const;  // sorted by name
  Result<storage::LogPosition> SetPrimary(std::string_view database, storage::ShardNumber shard);
  Result<storage::LogPosition> ForgetDatabase(std::string_view name);

  static constexpr size_t kIndexesMax = 64;

 private:
  explicit Catalog(storage::Store& store) : store_(store) {}

  struct Leftover {
    uint32_t number;
    bool index;
  };
  Status LoadCluster(uint32_t shards);
  Database AddDatabase(std::string_view name, std::optional<storage::ShardNumber> primary, storage::WriteSet& writes)
      BRAID_REQUIRES(change_mu_);
  Status LoadDescriptions();
  Status LoadFigures();
  Status FinishDrops();
  Status DropStaging();
  Result<Change> RenameIf(const Namespace& from, const Namespace& to,
                          const std::function<Status(const CollectionPtr& target)>& allowed, Waiter* waiter);
  Result<Change> RenameHeld(const Collection& source, const Namespace& to, const CollectionPtr& target)
      BRAID_REQUIRES(change_mu_);
  /// Removes the data of what the catalogue no longer knows, and then the notes about it.
  Status Collect(const std::vector<Leftover>& leftovers);
  static std::vector<Leftover> LeftoversOf(const Collection& collection);
  void Note(storage::WriteSet& writes, const std::vector<Leftover>& leftovers) const;

  void Describe(storage::WriteSet& writes, const Collection& collection) const;
  Result<std::shared_ptr<Collection>> MakeLocked(const Namespace& ns, bson::View options, storage::WriteSet& writes)
      BRAID_REQUIRES(change_mu_);
  Result<Change> CreateLocked(const Namespace& ns, bson::View options) BRAID_REQUIRES(change_mu_);
  /// Holds a collection's gate, so that it has no writers, and change_mu_, so that it cannot change. The gate is taken
  /// first, so that waiting for the collection's writers delays no one but those writers.
  class BRAID_SCOPED_CAPABILITY Held {
   public:
    Held(Catalog& catalog, const Namespace& ns, Waiter* waiter) BRAID_ACQUIRE(catalog.change_mu_);
    ~Held() BRAID_RELEASE();
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    /// The error of a waiter that gave up: then the collection is not held, but change_mu_ is all the same.
    const Status& status() const { return status_; }
    /// Null if there is none.
    const CollectionPtr& collection() const { return collection_; }

   private:
    Catalog& catalog_;
    CollectionPtr collection_;
    Gate::Pass gate_;
    Status status_;
  };
  static Result<Gate::Pass> CloseGate(CollectionState& state, Waiter* waiter);
  /// Runs `change` on a copy under the gate, commits the new description and shows it.
  Result<Change> Replace(const Namespace& ns, const std::function<Status(Collection*, storage::WriteSet&)>& change,
                         Waiter* waiter);
  void Show(CollectionPtr collection) BRAID_REQUIRES(change_mu_);
  void Hide(const Namespace& ns) BRAID_REQUIRES(change_mu_);
  uint32_t TakeNumber(storage::WriteSet& writes) BRAID_REQUIRES(change_mu_);

  storage::Store& store_;
  mutable SharedMutex mu_;  // taken last, and only briefly
  Mutex change_mu_;         // one change at a time
  uint32_t last_number_ BRAID_GUARDED_BY(change_mu_) = 0;
  std::map<Namespace, CollectionPtr> map_ BRAID_GUARDED_BY(mu_);
  Cluster cluster_ BRAID_GUARDED_BY(mu_);
  std::map<std::string, Database, std::less<>> databases_ BRAID_GUARDED_BY(mu_);
};

}  // namespace braid::catalog
