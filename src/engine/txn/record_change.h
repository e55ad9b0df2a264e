// RecordChange: all changes of one document write: entries of every index, keys that are unique over all shards, the
// document itself, counters. It first computes and checks everything, locks included, and then writes: so an error
// leaves no partial change. The errors of a write that breaks a rule of the collection are made here, too.
#pragma once

#include <optional>

#include "engine/catalog/collection.h"
#include "engine/catalog/index_keys.h"
#include "engine/txn/context.h"
#include "engine/txn/records.h"

namespace braid::txn {

/// The place of a version of a document.
struct Version {
  const bson::View* document = nullptr;  // null: there is no such version
  storage::ShardNumber shard = 0;
};

class InsertBatch;

class RecordChange {
 public:
  RecordChange(Context& context, const catalog::CollectionPtr& collection, std::string id_key)
      : context_(context), collection_(collection), id_key_(std::move(id_key)) {}

  Status Plan(const std::shared_ptr<const catalog::Index>& index, const Version& before, const Version& after);
  Status PlanAll(const Version& before, const Version& after);
  /// The entries that were planned.
  Status Write();
  /// Plans and writes the entries of a new document in one step. False, and nothing is written, unless each index has
  /// exactly one entry for it that nothing has to be checked for.
  bool WritePlainEntries(const Version& after, InsertBatch& batch);
  /// Document, its place over all shards, counters.
  void WriteDocument(const Version& before, const Version& after);
  /// Only the keys that are unique over all shards.
  Status WriteGlobalKeys(const Version& document);
  const std::string& id_key() const { return id_key_; }

 private:
  /// The changes of a write in one index.
  struct IndexChange {
    std::shared_ptr<const catalog::Index> index;
    std::vector<std::string> removed;         // keys, whole
    std::vector<std::string> removed_if_own;  // of a unique index being built: may belong to another document
    std::vector<catalog::IndexEntry> added;   // key: whole
    std::vector<std::string> claimed;         // keys of the index over all shards (keys.h 'u'), whole
    std::vector<std::string> released;
    uint64_t multikey = 0;
  };
  Result<catalog::IndexEntries> EntriesOf(const catalog::Index& index, const bson::View* document) const;
  /// Of an entry on its shard, or of the index over all shards. The value names the owner.
  struct UniqueKey {
    std::string key;
    bool global = false;
  };
  Status CheckUnique(const catalog::Index& index, const catalog::IndexEntry& entry, const UniqueKey& unique,
                     bool* skip);
  Status CheckEverywhere(const catalog::Index& index, const catalog::IndexEntry& entry, storage::ShardNumber shard,
                         bool* skip);
  Status WriteMultikey(const IndexChange& change);
  /// For values that are read, one at a time.
  storage::Buffer& Scratch() { return buffer_ ? *buffer_ : buffer_.emplace(); }
  std::string DocumentKeyOn(storage::ShardNumber shard) const {
    return storage::DocumentPrefix(collection_->number, shard).append(id_key_);
  }

  Context& context_;
  const catalog::CollectionPtr& collection_;
  const std::string id_key_;
  std::vector<IndexChange> changes_;
  std::optional<storage::Buffer> buffer_;  // most changes need none
};

/// E11000 with keyPattern and keyValue in the details; `values` as an index entry holds them.
Status DuplicateKey(const catalog::Collection& collection, const catalog::IndexSpec& spec, bson::View values);

/// OK, or kDocumentValidationFailure with errInfo. `before` is null for an insert. With the action "warn" it is a line
/// in the log.
Status CheckValidator(const catalog::Collection& collection, const bson::View* before, bson::View after);

}  // namespace braid::txn
