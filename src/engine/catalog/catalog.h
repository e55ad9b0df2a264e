// Catalog: databases, collections, indexes and their options; persisted in the store, held in memory.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "engine/catalog/collection.h"
#include "engine/storage/store.h"

namespace braid::catalog {

/// Any thread. Readers get an immutable description; a change is committed to the store before it is seen.
/// A database exists while it has a collection.
class Catalog {
 public:
  /// Reads every description; removes what an unfinished index build or drop left behind.
  static Result<std::unique_ptr<Catalog>> Load(storage::Store& store);

  /// Null if there is none.
  CollectionPtr Find(const Namespace& ns) const;
  CollectionPtr Find(std::string_view database, std::string_view collection) const;
  std::vector<std::string> Databases() const;                               // sorted
  std::vector<CollectionPtr> Collections(std::string_view database) const;  // sorted by name
  std::vector<CollectionPtr> All() const;

  struct Change {
    CollectionPtr collection;
    storage::LogPosition position = 0;  // to be durable before it is acknowledged
    bool created = false;
  };
  /// `options` as the create command's, already checked: validator, validationLevel, validationAction, collation, ….
  /// kNamespaceExists if it exists with other options; `created` false if it exists with the same.
  Result<Change> Create(const Namespace& ns, bson::View options);
  /// Creates with default options if absent: what a first insert does.
  Result<Change> Ensure(const Namespace& ns);
  /// The position; 0 if there was no such collection. Waits for writers of this moment, then removes data in the
  /// background.
  Result<Change> Drop(const Namespace& ns);
  Result<Change> Rename(const Namespace& from, const Namespace& to, bool drop_target);
  /// collMod: replaces validator, level, action; hides an index; changes a TTL.
  Result<Change> Modify(const Namespace& ns, const std::function<Status(Collection*)>& change);

  /// Adds indexes in state `building` (writers maintain them from now on); index_build.h fills them and calls
  /// FinishIndex or AbortIndex.
  Result<Change> StartIndexes(const Namespace& ns, std::vector<IndexSpec> specs);
  Result<Change> FinishIndexes(const Namespace& ns, const std::vector<uint32_t>& numbers);
  Result<Change> RemoveIndexes(const Namespace& ns, const std::vector<uint32_t>& numbers);

 private:
  explicit Catalog(storage::Store& store) : store_(store) {}
  storage::Store& store_;
  mutable std::shared_mutex mu_;  // guards map_
  std::mutex change_mu_;          // one change at a time
  std::map<Namespace, CollectionPtr> map_;
};

}  // namespace braid::catalog
