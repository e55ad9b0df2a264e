#include "engine/txn/record_change.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "base/assert.h"
#include "base/log.h"
#include "base/strings.h"
#include "engine/bson/arena.h"
#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "engine/bson/key_encoding.h"
#include "engine/language/match/json_schema.h"
#include "engine/storage/keys.h"
#include "engine/txn/insert_batch.h"
#include "engine/txn/records.h"

namespace braid::txn {
namespace {

using catalog::Index;
using catalog::IndexEntries;
using catalog::IndexEntry;

constexpr size_t kPlainFieldsMax = 8;  // of all indexes of a collection together

/// True if both versions have the same single key, as for most indexes in most updates.
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

std::string ShardBytes(storage::ShardNumber shard) {
  return {static_cast<char>(shard >> 8), static_cast<char>(shard & 0xff)};
}

/// The rest of an entry's key, behind its prefix, and its value, as EntryKey() and EntryValue() make them for an index
/// that is neither unique nor hashed.
void AppendPlainEntry(const catalog::IndexSpec& spec, std::span<const bson::Value> values, std::string_view id_key,
                      std::string& key, std::string& value) {
  static_assert(kPlainFieldsMax <= 10);  // names have one digit
  const auto append_size = [&value](size_t size) {
    const auto bytes = static_cast<uint32_t>(size);
    value.append(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
  };
  append_size(id_key.size());
  size_t size = sizeof(uint32_t) + 1;
  for (const bson::Value& field : values) size += field.missing() ? 0 : 3 + field.bytes().size();
  append_size(size);
  for (size_t i = 0; i < values.size(); ++i) {
    const bool missing = values[i].missing();
    bson::AppendKey(&key, missing ? bson::Arena::Null() : values[i], spec.fields[i].descending, spec.collation.get());
    if (missing) continue;
    value.push_back(static_cast<char>(values[i].type()));
    value.push_back(static_cast<char>('0' + i));
    value.push_back('\0');
    value.append(values[i].bytes());
  }
  value.push_back('\0');
  key.append(id_key);
}

/// A transaction takes a unique key only if its snapshot shows the key as it is now: kWriteConflict. The lock is not
/// enough, because a released key is not locked.
Status CheckUnchanged(Context& context, std::string_view key, bool found, const storage::Buffer& newest) {
  if (!context.is_transaction() || context.snapshot().empty()) return {};
  storage::Buffer seen;
  BRAID_TRY(const bool was_there, context.Get(key, &seen));
  if (was_there == found && (!found || seen.view() == newest.view())) return {};
  return {Code::kWriteConflict, "WriteConflict: the unique key was changed after the transaction began"};
}

}  // namespace

Result<IndexEntries> RecordChange::EntriesOf(const Index& index, const bson::View* document) const {
  if (document == nullptr) return IndexEntries{};
  Result<IndexEntries> entries = catalog::MakeEntries(index.spec, *document);
  if (!entries.ok() && index.building) {
    index.FailBuild(entries.error());
    return IndexEntries{};
  }
  return entries;
}

Status RecordChange::CheckUnique(const Index& index, const IndexEntry& entry, const UniqueKey& unique, bool* skip) {
  const std::string& key = unique.key;
  BRAID_CHECK_OK(context_.Lock(key));
  BRAID_TRY(bool found, context_.writes().Get(key, {}, &Scratch()));
  BRAID_CHECK_OK(CheckUnchanged(context_, key, found, Scratch()));
  if (!found) return {};
  std::string owner(Scratch().view());
  if (!unique.global) {
    BRAID_TRY(StoredEntry stored, ReadEntry(index, key, Scratch().view()));
    owner = std::string(stored.id_key);
  }
  if (owner == id_key_) return {};
  if (collection_->has_ttl()) {
    storage::Buffer document;
    const storage::ShardNumber guess = collection_->placement->chunks.front().shard;
    BRAID_TRY(auto shard, ReadForChange(context_, *collection_, owner, guess, &document));
    if (shard && collection_->IsExpired(bson::View(document.view()), context_.now_millis())) {
      return Remove(context_, collection_, *shard, bson::View(document.view()));
    }
  }
  const Status duplicate = DuplicateKey(*collection_, index.spec, entry.values);
  if (!index.building) return duplicate;
  index.FailBuild(duplicate);
  *skip = true;
  return {};
}

/// Checks the entries over all shards, once they are complete. Before that every document is on one shard or, during a
/// move, on one of two, so the shards' own entries are checked.
Status RecordChange::CheckEverywhere(const Index& index, const IndexEntry& entry, storage::ShardNumber shard,
                                     bool* skip) {
  const sharding::Placement& placement = *collection_->placement;
  if (placement.sharded()) {
    return CheckUnique(index, entry, {storage::GlobalKey(index.number, entry.key), true}, skip);
  }
  if (!placement.is_moving()) return CheckUnique(index, entry, {EntryKey(index, shard, entry.key, id_key_)}, skip);
  for (const storage::ShardNumber place : placement.Shards()) {
    BRAID_CHECK_OK(CheckUnique(index, entry, {EntryKey(index, place, entry.key, id_key_)}, skip));
  }
  return {};
}

Status RecordChange::Plan(const std::shared_ptr<const Index>& index, const Version& before, const Version& after) {
  BRAID_ASSERT(index->number != 0);  // documents are in the order of _id themselves
  const bool moves = before.document != nullptr && after.document != nullptr && before.shard != after.shard;
  if (!moves && SamePlainKey(index->spec, before.document, after.document)) return {};
  BRAID_TRY(IndexEntries old_entries, EntriesOf(*index, before.document));
  BRAID_TRY(IndexEntries new_entries, EntriesOf(*index, after.document));
  const bool global = index->spec.unique && collection_->placement->keeps_global_keys();
  IndexChange change{.index = index, .multikey = new_entries.multikey};
  auto& removed = index->building && index->spec.unique ? change.removed_if_own : change.removed;
  auto old_entry = old_entries.entries.begin();
  const auto remove_up_to = [&](const IndexEntry* end) {
    for (; old_entry != old_entries.entries.end() && (end == nullptr || old_entry->key < end->key); ++old_entry) {
      removed.push_back(EntryKey(*index, before.shard, old_entry->key, id_key_));
      if (global) change.released.push_back(storage::GlobalKey(index->number, old_entry->key));
    }
  };
  for (IndexEntry& entry : new_entries.entries) {
    remove_up_to(&entry);
    const bool same_key = old_entry != old_entries.entries.end() && old_entry->key == entry.key;
    const bool same = same_key && !moves && old_entry->values.bytes() == entry.values.bytes();
    if (same_key && moves) removed.push_back(EntryKey(*index, before.shard, old_entry->key, id_key_));
    if (same_key) ++old_entry;
    if (same) continue;
    std::string key = EntryKey(*index, after.shard, entry.key, id_key_);
    bool skip = false;
    if (index->spec.unique && (!same_key || index->building)) {
      BRAID_CHECK_OK(CheckEverywhere(*index, entry, after.shard, &skip));
      if (global && !skip) change.claimed.push_back(storage::GlobalKey(index->number, entry.key));
    }
    if (!skip) change.added.push_back({std::move(key), std::move(entry.values)});
  }
  remove_up_to(nullptr);
  if ((change.multikey & ~index->multikey_stored.load()) != 0) {
    BRAID_CHECK_OK(context_.Lock(storage::MultikeyKey(index->number)));
  }
  changes_.push_back(std::move(change));
  return {};
}

Status RecordChange::PlanAll(const Version& before, const Version& after) {
  for (const auto& index : collection_->indexes) {
    if (index->number != 0) BRAID_CHECK_OK(Plan(index, before, after));
  }
  return {};
}

bool RecordChange::WritePlainEntries(const Version& after, InsertBatch& batch) {
  std::array<bson::Value, kPlainFieldsMax> all;
  size_t used = 0;
  for (const auto& index : collection_->indexes) {
    if (index->number == 0) continue;
    const catalog::IndexSpec& spec = index->spec;
    const size_t count = spec.fields.size();
    if (spec.unique || spec.sparse || spec.partial_filter || spec.is_hashed()) return false;
    if (count > all.size() - used || !spec.paths.PlainKey(*after.document, std::span(all).subspan(used, count))) {
      return false;
    }
    used += count;
  }
  const bson::Value* next = all.data();
  for (const auto& index : collection_->indexes) {
    if (index->number == 0) continue;
    const std::span<const bson::Value> values(next, index->spec.fields.size());
    next += values.size();
    batch.entry_key = storage::IndexPrefix(index->number, after.shard);
    batch.entry_value.clear();
    AppendPlainEntry(index->spec, values, id_key_, batch.entry_key, batch.entry_value);
    context_.writes().Put(batch.entry_key, batch.entry_value);
  }
  return true;
}

Status RecordChange::WriteMultikey(const IndexChange& change) {
  if ((change.multikey & ~change.index->multikey_stored.load()) == 0) return {};
  const std::string key = storage::MultikeyKey(change.index->number);
  uint64_t bits = 0;
  BRAID_TRY(bool found, context_.writes().Get(key, {}, &Scratch()));
  if (found) std::memcpy(&bits, Scratch().view().data(), std::min<size_t>(8, Scratch().view().size()));
  bits |= change.multikey;
  context_.writes().Put(key, {reinterpret_cast<const char*>(&bits), 8});
  context_.NoteMultikey(change.index, bits);
  return {};
}

Status RecordChange::Write() {
  storage::WriteSet& writes = context_.writes();
  for (const IndexChange& change : changes_) {
    BRAID_CHECK_OK(WriteMultikey(change));
    for (const std::string& key : change.removed) writes.Delete(key);
    for (const std::string& key : change.removed_if_own) {
      BRAID_TRY(bool found, writes.Get(key, {}, &Scratch()));
      if (!found) continue;
      BRAID_TRY(StoredEntry stored, ReadEntry(*change.index, key, Scratch().view()));
      if (stored.id_key == id_key_) writes.Delete(key);
    }
    for (const std::string& key : change.released) {
      // Of an index being built the key may be another document's.
      BRAID_TRY(bool found, writes.Get(key, {}, &Scratch()));
      if (found && Scratch().view() == id_key_) writes.Delete(key);
    }
    for (const IndexEntry& entry : change.added)
      writes.Put(entry.key, EntryValue(*change.index, entry.values, id_key_));
    for (const std::string& key : change.claimed) writes.Put(key, id_key_);
  }
  return {};
}

void RecordChange::WriteDocument(const Version& before, const Version& after) {
  storage::WriteSet& writes = context_.writes();
  const bool moves = before.document != nullptr && after.document != nullptr && before.shard != after.shard;
  if (before.document != nullptr && (after.document == nullptr || moves)) writes.Delete(DocumentKeyOn(before.shard));
  if (after.document != nullptr) writes.Put(DocumentKeyOn(after.shard), after.document->bytes());
  BRAID_ASSERT(before.document != nullptr || after.document != nullptr);
  const bson::View any = after.document != nullptr ? *after.document : *before.document;
  if (collection_->placement->keeps_global_keys() && !collection_->PlacedById(any.Find("_id"))) {
    const std::string key = storage::GlobalKey(collection_->number, id_key_);
    if (after.document == nullptr) {
      writes.Delete(key);
    } else if (before.document == nullptr || moves) {
      writes.Put(key, ShardBytes(after.shard));
    }
  }
  const auto count = [this](const Version& version, int sign) {
    if (version.document == nullptr) return;
    context_.CountDocument(collection_, version.shard, sign, sign * static_cast<int64_t>(version.document->size()));
  };
  count(before, -1);
  count(after, 1);
  if (!collection_->sharded()) return;
  if (after.document == nullptr || moves) collection_->state->by_shard.CountWritten(before.shard);
  if (after.document != nullptr) collection_->state->by_shard.CountWritten(after.shard);
}

Status RecordChange::WriteGlobalKeys(const Version& document) {
  storage::WriteSet& writes = context_.writes();
  if (!collection_->PlacedById(document.document->Find("_id"))) {
    writes.Put(storage::GlobalKey(collection_->number, id_key_), ShardBytes(document.shard));
  }
  for (const auto& index : collection_->indexes) {
    if (!index->spec.unique || index->number == 0) continue;
    BRAID_TRY(const IndexEntries entries, EntriesOf(*index, document.document));
    for (const IndexEntry& entry : entries.entries) writes.Put(storage::GlobalKey(index->number, entry.key), id_key_);
  }
  return {};
}

Status DuplicateKey(const catalog::Collection& collection, const catalog::IndexSpec& spec, bson::View values) {
  bson::Builder builder;
  for (size_t i = 0; i < spec.fields.size(); ++i) {
    const bson::Value value = values.Find(StrCat(i));
    if (value.missing()) {
      builder.Append(spec.fields[i].path, bson::Null{});
    } else if (spec.collation != nullptr && value.Is(bson::Type::kString)) {
      builder.Append(spec.fields[i].path, StrCat("0x", Hex(spec.collation->SortKey(value.AsString()))));
    } else {
      builder.Append(spec.fields[i].path, value);
    }
  }
  const bson::Document key_value = builder.Finish();
  std::string collation;
  if (spec.collation != nullptr) collation = StrCat(" collation: ", bson::ToShell(spec.collation->spec()));
  const Status status(Code::kDuplicateKey,
                      StrCat("E11000 duplicate key error collection: ", collection.ns.ToString(), " index: ", spec.name,
                             collation, " dup key: ", bson::ToShell(key_value)));
  return status.WithDetails(bson::Make("keyPattern", spec.key_pattern, "keyValue", key_value).bytes());
}

Status CheckValidator(const catalog::Collection& collection, const bson::View* before, bson::View after) {
  if (!collection.validator_spec || collection.validation_level == catalog::ValidationLevel::kOff) return {};
  BRAID_TRY(bool valid, collection.validator.Matches(after));
  if (valid) return {};
  if (before != nullptr && collection.validation_level == catalog::ValidationLevel::kModerate) {
    BRAID_TRY(bool was_valid, collection.validator.Matches(*before));
    if (!was_valid) return {};
  }
  if (collection.validation_action == catalog::ValidationAction::kWarn) {
    log::warn("{}: a document fails validation and is stored: _id {}", collection.ns.ToString(),
              bson::ToShell(after.Find("_id")));
    return {};
  }
  bson::Builder details;
  details.OpenObject("errInfo").Append("failingDocumentId", after.Find("_id"));
  details.Append("details", query::ExplainMismatch(collection.validator, after)).Close();
  return Status(Code::kDocumentValidationFailure, "Document failed validation").WithDetails(details.Finish().bytes());
}

}  // namespace braid::txn
