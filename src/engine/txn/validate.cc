#include "engine/txn/validate.h"

#include <fmt/ranges.h>

#include "base/strings.h"
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
      BRAID_CHECK_OK(context_.Check());
      ++report_.documents;
      report_.bytes += cursor->value().size();
      if (const auto valid = bson::Validate(cursor->value()); !valid.ok()) {
        Report(StrCat("the document with key ", Hex(cursor->key()), " is damaged: ", valid.error().message()));
        continue;
      }
      const bson::View document(cursor->value());
      if (DocumentKey(collection_, document.Find("_id")) != cursor->key()) {
        Report(StrCat("the key of document ", bson::ToShell(document.Find("_id")), " is not that of its _id"));
      }
      for (size_t i = 0; i < collection_.indexes.size(); ++i) {
        if (collection_.indexes[i]->number != 0 && !collection_.indexes[i]->building) {
          BRAID_CHECK_OK(CheckEntries(i, document));
        }
      }
    }
    return cursor->status();
  }

  Status CheckEntries(size_t i, bson::View document) {
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
      const std::string key = EntryKey(index, collection_.primary_shard, entry.key, id_key);
      BRAID_TRY(bool found, context_.Get(key, &buffer_));
      if (!found) {
        Report(StrCat("index ", index.spec.name, " lacks the entry ", bson::ToShell(entry.values), " of document ",
                      bson::ToShell(id)));
      } else if (buffer_.view() != EntryValue(index, entry.values, id_key)) {
        Report(StrCat("index ", index.spec.name, " has another value in the entry ", bson::ToShell(entry.values),
                      " of document ", bson::ToShell(id)));
      }
    }
    return {};
  }

  Status CheckIndex(size_t i) {
    const Index& index = *collection_.indexes[i];
    const auto cursor = context_.NewCursor(storage::IndexRange(index.number));
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
      BRAID_CHECK_OK(context_.Check());
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
    const std::string document_key =
        storage::DocumentPrefix(collection_.number, collection_.primary_shard).append(entry->id_key);
    BRAID_TRY(bool found, context_.Get(document_key, &buffer_));
    if (found) {
      const auto entries = catalog::MakeEntries(index.spec, bson::View(buffer_.view()));
      if (!entries.ok()) return {};
      for (const catalog::IndexEntry& own : entries->entries) {
        if (EntryKey(index, collection_.primary_shard, own.key, entry->id_key) == key) return {};
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
