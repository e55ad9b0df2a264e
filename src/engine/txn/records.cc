// Records: every write first computes and checks everything, locks included, and then writes: so an error leaves
// nothing of the document behind.
#include "engine/txn/records.h"

#include <algorithm>
#include <cstring>

#include "base/strings.h"
#include "engine/bson/builder.h"
#include "engine/bson/key_encoding.h"
#include "engine/catalog/index_keys.h"
#include "engine/storage/keys.h"
#include "engine/txn/record_errors.h"

namespace braid::txn {
namespace {

using catalog::Collection;
using catalog::CollectionPtr;
using catalog::Index;
using catalog::IndexEntries;
using catalog::IndexEntry;

constexpr size_t kWriteSetBytesMax = 1u << 30;

/// What a write changes in one index.
struct IndexChange {
  std::shared_ptr<const Index> index;
  std::vector<std::string> removed;         // keys, whole
  std::vector<std::string> removed_if_own;  // of a unique index being built: may belong to another document
  std::vector<IndexEntry> added;            // key: whole
  uint64_t multikey = 0;
};

/// Everything that one write of a document takes with it.
class Change {
 public:
  Change(Context& context, const CollectionPtr& collection, std::string id_key)
      : context_(context), collection_(collection), id_key_(std::move(id_key)), shard_(collection->primary_shard) {}

  /// `before` or `after` may be null: there is no such version.
  Status Plan(const std::shared_ptr<const Index>& index, const bson::View* before, const bson::View* after);
  Status Write();

 private:
  Result<IndexEntries> EntriesOf(const Index& index, const bson::View* document) const;
  Status CheckUnique(const Index& index, const IndexEntry& entry, const std::string& key, bool* skip);
  Status WriteMultikey(const IndexChange& change);
  std::string Prefixed(std::string_view id_key) const {
    return storage::DocumentPrefix(collection_->number, shard_).append(id_key);
  }

  Context& context_;
  const CollectionPtr& collection_;
  const std::string id_key_;
  const storage::ShardNumber shard_;
  std::vector<IndexChange> changes_;
  storage::Buffer buffer_;
};

/// True if both versions have the same single key: what most updates leave every index but one with.
bool SamePlainKey(const catalog::IndexSpec& spec, const bson::View* before, const bson::View* after) {
  if (before == nullptr || after == nullptr || spec.partial_filter) return false;
  std::array<bson::Value, query::KeyPaths::kPathsMax> a;
  std::array<bson::Value, query::KeyPaths::kPathsMax> b;
  if (!spec.paths.PlainKey(*before, a) || !spec.paths.PlainKey(*after, b)) return false;
  for (size_t i = 0; i < spec.fields.size(); ++i) {
    if (!a[i].Identical(b[i])) return false;
  }
  return true;
}

Result<IndexEntries> Change::EntriesOf(const Index& index, const bson::View* document) const {
  if (document == nullptr) return IndexEntries{};
  Result<IndexEntries> entries = catalog::MakeEntries(index.spec, *document);
  if (!entries.ok() && index.building) {
    index.FailBuild(entries.error());
    return IndexEntries{};
  }
  return entries;
}

Status Change::CheckUnique(const Index& index, const IndexEntry& entry, const std::string& key, bool* skip) {
  BRAID_CHECK_OK(context_.Lock(key));
  BRAID_TRY(bool found, context_.writes().Get(key, {}, &buffer_));
  if (!found) return {};
  BRAID_TRY(StoredEntry stored, ReadEntry(index, key, buffer_.view()));
  if (stored.id_key == id_key_) return {};
  if (collection_->has_ttl()) {
    const std::string other = Prefixed(stored.id_key);
    BRAID_CHECK_OK(context_.Lock(other));
    storage::Buffer document;
    BRAID_TRY(bool there, context_.writes().Get(other, {}, &document));
    if (there && collection_->IsExpired(bson::View(document.view()), context_.now_millis())) {
      return Remove(context_, collection_, bson::View(document.view()));
    }
  }
  const Status duplicate = DuplicateKey(*collection_, index.spec, entry.values);
  if (!index.building) return duplicate;
  index.FailBuild(duplicate);
  *skip = true;
  return {};
}

Status Change::Plan(const std::shared_ptr<const Index>& index, const bson::View* before, const bson::View* after) {
  if (SamePlainKey(index->spec, before, after)) return {};
  BRAID_TRY(IndexEntries old_entries, EntriesOf(*index, before));
  BRAID_TRY(IndexEntries new_entries, EntriesOf(*index, after));
  IndexChange change{.index = index, .multikey = new_entries.multikey};
  auto& removed = index->building && index->spec.unique ? change.removed_if_own : change.removed;
  auto old_entry = old_entries.entries.begin();
  const auto remove_up_to = [&](const IndexEntry* end) {
    for (; old_entry != old_entries.entries.end() && (end == nullptr || old_entry->key < end->key); ++old_entry) {
      removed.push_back(EntryKey(*index, shard_, old_entry->key, id_key_));
    }
  };
  for (IndexEntry& entry : new_entries.entries) {
    remove_up_to(&entry);
    const bool same_key = old_entry != old_entries.entries.end() && old_entry->key == entry.key;
    const bool same = same_key && old_entry->values.bytes() == entry.values.bytes();
    if (same_key) ++old_entry;
    if (same) continue;
    std::string key = EntryKey(*index, shard_, entry.key, id_key_);
    bool skip = false;
    if (index->spec.unique && (!same_key || index->building)) BRAID_CHECK_OK(CheckUnique(*index, entry, key, &skip));
    if (!skip) change.added.push_back({std::move(key), std::move(entry.values)});
  }
  remove_up_to(nullptr);
  if ((change.multikey & ~index->multikey_stored.load()) != 0) {
    BRAID_CHECK_OK(context_.Lock(storage::MultikeyKey(index->number)));
  }
  changes_.push_back(std::move(change));
  return {};
}

Status Change::WriteMultikey(const IndexChange& change) {
  if ((change.multikey & ~change.index->multikey_stored.load()) == 0) return {};
  const std::string key = storage::MultikeyKey(change.index->number);
  uint64_t bits = 0;
  BRAID_TRY(bool found, context_.writes().Get(key, {}, &buffer_));
  if (found) std::memcpy(&bits, buffer_.view().data(), std::min<size_t>(8, buffer_.view().size()));
  bits |= change.multikey;
  context_.writes().Put(key, {reinterpret_cast<const char*>(&bits), 8});
  context_.NoteMultikey(change.index, bits);
  return {};
}

Status Change::Write() {
  storage::WriteSet& writes = context_.writes();
  for (const IndexChange& change : changes_) {
    BRAID_CHECK_OK(WriteMultikey(change));
    for (const std::string& key : change.removed) writes.Delete(key);
    for (const std::string& key : change.removed_if_own) {
      BRAID_TRY(bool found, writes.Get(key, {}, &buffer_));
      if (!found) continue;
      BRAID_TRY(StoredEntry stored, ReadEntry(*change.index, key, buffer_.view()));
      if (stored.id_key == id_key_) writes.Delete(key);
    }
    for (const IndexEntry& entry : change.added)
      writes.Put(entry.key, EntryValue(*change.index, entry.values, id_key_));
  }
  return {};
}

Status CheckRoom(Context& context) {
  if (context.writes().bytes() < kWriteSetBytesMax) return {};
  return {Location(257), StrCat("the changes to be committed together exceed ", kWriteSetBytesMax, " bytes")};
}

/// A transaction changes only what is still as its snapshot shows it.
Status CheckUnchanged(Context& context, std::string_view key, bool found, const storage::Buffer& newest) {
  if (!context.is_transaction() || context.snapshot().empty()) return {};
  storage::Buffer seen;
  BRAID_TRY(bool was_there, context.Get(key, &seen));
  if (was_there == found && (!found || seen.view() == newest.view())) return {};
  return {Code::kWriteConflict, "WriteConflict: the document was changed after the transaction began"};
}

}  // namespace

std::string IdKey(const bson::Value& id, const bson::Collation* collation) {
  std::string key;
  bson::AppendKey(&key, id, false, collation);
  return key;
}

std::string DocumentKey(const Collection& collection, const bson::Value& id) {
  std::string key = storage::DocumentPrefix(collection.number, collection.primary_shard);
  bson::AppendKey(&key, id, false, collection.collation.get());
  return key;
}

Result<bool> ReadForChange(Context& context, const Collection& /*collection*/, std::string_view document_key,
                           storage::Buffer* out) {
  BRAID_CHECK_OK(context.Lock(document_key));
  BRAID_TRY(bool found, context.writes().Get(document_key, {}, out));
  BRAID_CHECK_OK(CheckUnchanged(context, document_key, found, *out));
  return found;
}

Status Insert(Context& context, const CollectionPtr& collection, bson::View document, const WriteOptions& options) {
  BRAID_CHECK_OK(CheckRoom(context));
  if (!options.bypass_validation) BRAID_CHECK_OK(CheckValidator(*collection, nullptr, document));
  const bson::Value id = document.Find("_id");
  std::string id_key = IdKey(id, collection->collation.get());
  const std::string key = storage::DocumentPrefix(collection->number, collection->primary_shard).append(id_key);
  storage::Buffer existing;
  BRAID_TRY(bool found, ReadForChange(context, *collection, key, &existing));
  if (found) {
    const bson::View standing(existing.view());
    if (!collection->IsExpired(standing, context.now_millis())) {
      return DuplicateKey(*collection, collection->indexes[0]->spec, bson::Make("0", id));
    }
    BRAID_CHECK_OK(Remove(context, collection, standing));
  }
  Change change(context, collection, std::move(id_key));
  for (const auto& index : collection->indexes) {
    if (index->number != 0) BRAID_CHECK_OK(change.Plan(index, nullptr, &document));
  }
  BRAID_CHECK_OK(change.Write());
  context.writes().Put(key, document.bytes());
  context.CountDocument(collection, collection->primary_shard, 1, document.size());
  return {};
}

Status Replace(Context& context, const CollectionPtr& collection, bson::View before, bson::View after,
               const WriteOptions& options) {
  BRAID_CHECK_OK(CheckRoom(context));
  if (!options.bypass_validation) BRAID_CHECK_OK(CheckValidator(*collection, &before, after));
  const bson::Value id = before.Find("_id");
  Change change(context, collection, IdKey(id, collection->collation.get()));
  for (const auto& index : collection->indexes) {
    if (index->number != 0) BRAID_CHECK_OK(change.Plan(index, &before, &after));
  }
  BRAID_CHECK_OK(change.Write());
  context.writes().Put(DocumentKey(*collection, id), after.bytes());
  context.CountDocument(collection, collection->primary_shard, 0,
                        static_cast<int64_t>(after.size()) - static_cast<int64_t>(before.size()));
  return {};
}

Status Remove(Context& context, const CollectionPtr& collection, bson::View before) {
  BRAID_CHECK_OK(CheckRoom(context));
  const bson::Value id = before.Find("_id");
  Change change(context, collection, IdKey(id, collection->collation.get()));
  for (const auto& index : collection->indexes) {
    if (index->number != 0) BRAID_CHECK_OK(change.Plan(index, &before, nullptr));
  }
  BRAID_CHECK_OK(change.Write());
  context.writes().Delete(DocumentKey(*collection, id));
  context.CountDocument(collection, collection->primary_shard, -1, -static_cast<int64_t>(before.size()));
  return {};
}

Status AddToIndex(Context& context, const CollectionPtr& collection, const std::shared_ptr<const Index>& index,
                  bson::View document) {
  Change change(context, collection, IdKey(document.Find("_id"), collection->collation.get()));
  BRAID_CHECK_OK(change.Plan(index, nullptr, &document));
  return change.Write();
}

}  // namespace braid::txn
