#include "engine/txn/validate.h"

#include <fmt/ranges.h>

#include "base/strings.h"
#include "base/work.h"
#include "engine/bson/json.h"
#include "engine/bson/validate.h"
#include "engine/catalog/index_keys.h"
#include "engine/storage/keys.h"
#include "engine/txn/records.h"

namespace braid::txn {
namespace {

using catalog::Collection;
using catalog::Index;

class Validation {
 public:
  Validation(Context& context, const Collection& collection) : context_(context), collection_(collection) {
    for (const auto& index : collection.indexes) report_.indexes.push_back({index->spec.name, 0});
    expected_.resize(collection.indexes.size());
  }

  Result<ValidationReport> Run() {
    BRAID_CHECK_OK(CheckDocuments());
    for (size_t i = 0; i < collection_.indexes.size(); ++i) {
      if (collection_.indexes[i]->number != 0 && !collection_.indexes[i]->building) BRAID_CHECK_OK(CheckIndex(i));
    }
    for (size_t i = 0; i < collection_.indexes.size(); ++i) {
      const Index& index = *collection_.indexes[i];
      if (index.building) continue;
      const uint64_t entries = index.number == 0 ? global_ids_ : index.spec.unique ? expected_[i] : 0;
      BRAID_CHECK_OK(CheckGlobalKeys(index.number == 0 ? collection_.number : index.number, entries, index.spec.name));
    }
    report_.indexes[0].keys = report_.documents;
    BRAID_CHECK_OK(CheckCounters());
    return std::move(report_);
  }

 private:
  void Report(std::string error) {
    if (report_.errors.size() < ValidationReport::kErrorsMax) report_.errors.push_back(std::move(error));
  }

  Status CheckDocuments() {
    const auto cursor = context_.NewCursor(storage::DocumentRange(collection_.number));
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
      BRAID_CHECK_OK(Work::Current().Tick(StepsFor(cursor->value().size())));
      ++report_.documents;
      report_.bytes += cursor->value().size();
      if (const auto valid = bson::Validate(cursor->value()); !valid.ok()) {
        Report(StrCat("the document with key ", Hex(cursor->key()), " is damaged: ", valid.error().message()));
        continue;
      }
      const bson::View document(cursor->value());
      const storage::ShardNumber shard = storage::ShardOfKey(cursor->key());
      if (DocumentKey(collection_, shard, document.Find("_id")) != cursor->key()) {
        Report(StrCat("the key of document ", bson::ToShell(document.Find("_id")), " is not that of its _id"));
      }
      BRAID_CHECK_OK(CheckPlace(shard, document));
      for (size_t i = 0; i < collection_.indexes.size(); ++i) {
        if (collection_.indexes[i]->number != 0 && !collection_.indexes[i]->building) {
          BRAID_CHECK_OK(CheckEntries(i, shard, document));
        }
      }
    }
    return cursor->status();
  }

  /// Checks that a document is on the shard of its chunk, and that its _id and unique keys lead there.
  Status CheckPlace(storage::ShardNumber shard, bson::View document) {
    const sharding::Placement& placement = *collection_.placement;
    const bson::Value id = document.Find("_id");
    const auto key = collection_.sharded() ? placement.key.KeyOf(document) : Result<std::string>(std::string());
    if (!key.ok()) {
      Report(StrCat("document ", bson::ToShell(id), " cannot be placed: ", key.error().message()));
    } else if (!placement.ChunkOf(*key).HasPart(shard)) {
      Report(StrCat("document ", bson::ToShell(id), " is on shard ", shard, ", its chunk on shard ",
                    placement.ChunkOf(*key).shard));
    }
    if (!placement.keeps_global_keys() || placement.preparing || collection_.PlacedById(id)) return {};
    const std::string id_key = IdKey(id, collection_.collation.get());
    BRAID_TRY(bool found, context_.Get(storage::GlobalKey(collection_.number, id_key), &buffer_));
    ++global_ids_;
    const std::string expected{static_cast<char>(shard >> 8), static_cast<char>(shard & 0xff)};
    if (!found || buffer_.view() != expected) {
      Report(StrCat("the entry of _id ", bson::ToShell(id), " over all shards is ", found ? "wrong" : "missing"));
    }
    return {};
  }

  /// No entry over all shards without its document.
  Status CheckGlobalKeys(uint32_t number, uint64_t expected, std::string_view name) {
    if (!collection_.placement->keeps_global_keys() || collection_.placement->preparing) expected = 0;
    if (collection_.placement->preparing) return {};
    uint64_t entries = 0;
    const auto cursor = context_.NewCursor(storage::GlobalRange(number));
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
      BRAID_CHECK_OK(Work::Current().Tick());
      ++entries;
    }
    BRAID_CHECK_OK(cursor->status());
    if (entries != expected) {
      Report(StrCat("index ", name, " has ", entries, " entries over all shards instead of ", expected));
    }
    return {};
  }

  Status CheckEntries(size_t i, storage::ShardNumber shard, bson::View document) {
    const Index& index = *collection_.indexes[i];
    const bson::Value id = document.Find("_id");
    const auto entries = catalog::MakeEntries(index.spec, document);
    if (!entries.ok()) {
      Report(StrCat("document ", bson::ToShell(id), " cannot be in index ", index.spec.name, ": ",
                    entries.error().message()));
      return {};
    }
    if ((entries->multikey & ~index.multikey.load()) != 0) {
      Report(StrCat("index ", index.spec.name, " does not know of the array in document ", bson::ToShell(id)));
    }
    const std::string id_key = IdKey(id, collection_.collation.get());
    for (const catalog::IndexEntry& entry : entries->entries) {
      ++expected_[i];
      const std::string key = EntryKey(index, shard, entry.key, id_key);
      BRAID_TRY(bool found, context_.Get(key, &buffer_));
      if (!found) {
        Report(StrCat("index ", index.spec.name, " lacks the entry ", bson::ToShell(entry.values), " of document ",
                      bson::ToShell(id)));
      } else if (buffer_.view() != EntryValue(index, entry.values, id_key)) {
        Report(StrCat("index ", index.spec.name, " has another value in the entry ", bson::ToShell(entry.values),
                      " of document ", bson::ToShell(id)));
      }
      if (!index.spec.unique || !collection_.placement->keeps_global_keys() || collection_.placement->preparing)
        continue;
      BRAID_TRY(found, context_.Get(storage::GlobalKey(index.number, entry.key), &buffer_));
      if (!found || buffer_.view() != id_key) {
        Report(StrCat("index ", index.spec.name, " does not have ", bson::ToShell(entry.values),
                      " over all shards for document ", bson::ToShell(id)));
      }
    }
    return {};
  }

  Status CheckIndex(size_t i) {
    const Index& index = *collection_.indexes[i];
    const auto cursor = context_.NewCursor(storage::IndexRange(index.number));
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
      BRAID_CHECK_OK(Work::Current().Tick());
      ++report_.indexes[i].keys;
    }
    BRAID_CHECK_OK(cursor->status());
    if (report_.indexes[i].keys == expected_[i]) return {};
    Report(StrCat("index ", index.spec.name, " has ", report_.indexes[i].keys, " entries instead of ", expected_[i]));
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
      BRAID_CHECK_OK(CheckBelongs(index, cursor->key(), cursor->value()));
    }
    return cursor->status();
  }

  Status CheckBelongs(const Index& index, std::string_view key, std::string_view value) {
    const auto entry = ReadEntry(index, key, value);
    if (!entry.ok()) {
      Report(std::string(entry.error().message()));
      return {};
    }
    const storage::ShardNumber shard = storage::ShardOfKey(key);
    const std::string document_key = storage::DocumentPrefix(collection_.number, shard).append(entry->id_key);
    BRAID_TRY(bool found, context_.Get(document_key, &buffer_));
    if (found) {
      const auto entries = catalog::MakeEntries(index.spec, bson::View(buffer_.view()));
      if (!entries.ok()) return {};
      for (const catalog::IndexEntry& own : entries->entries) {
        if (EntryKey(index, shard, own.key, entry->id_key) == key) return {};
      }
    }
    Report(StrCat("index ", index.spec.name, " has an entry ", bson::ToShell(entry->values),
                  found ? " that its document does not have" : " without a document"));
    return {};
  }

  Status CheckCounters() {
    int64_t documents = 0;
    int64_t bytes = 0;
    const auto cursor = context_.NewCursor(storage::CounterRange(collection_.number));
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
      BRAID_TRY(int64_t figure, context_.shared().store.ReadCounter(cursor->key(), context_.snapshot()));
      (cursor->key().back() == 'n' ? documents : bytes) += figure;
    }
    BRAID_CHECK_OK(cursor->status());
    if (documents != static_cast<int64_t>(report_.documents) || bytes != static_cast<int64_t>(report_.bytes)) {
      Report(StrCat("the counters say ", documents, " documents of ", bytes, " bytes; there are ", report_.documents,
                    " of ", report_.bytes));
    }
    return {};
  }

  Context& context_;
  const Collection& collection_;
  ValidationReport report_;
  std::vector<uint64_t> expected_;
  uint64_t global_ids_ = 0;
  storage::Buffer buffer_;
};

}  // namespace

Result<ValidationReport> ValidateCollection(Context& context, const Collection& collection) {
  context.FixSnapshot();
  return Validation(context, collection).Run();
}

Status CheckIndexes(Context& context, const Collection& collection) {
  BRAID_TRY(ValidationReport report, ValidateCollection(context, collection));
  if (report.errors.empty()) return {};
  return {Code::kStorageCorrupt,
          StrCat(collection.ns.ToString(), ": ", fmt::format("{}", fmt::join(report.errors, "; ")))};
}

}  // namespace braid::txn
