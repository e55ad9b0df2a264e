// Index builds. The order of things keeps every document in the index:
//   1. the index is announced under the gate: every later write maintains it, and no write is in progress without
//   knowing it;
//   2. the documents are walked in batches; each is locked, read again and put in. A writer that changes it before or
//      after finds a consistent state of index and document;
//   3. the index is shown to readers, under the gate again.
#include "engine/txn/index_build.h"

#include <thread>

#include "base/assert.h"
#include "base/strings.h"
#include "engine/storage/keys.h"
#include "engine/txn/records.h"

namespace braid::txn {
namespace {

using catalog::CollectionPtr;
using catalog::Index;
using catalog::IndexSpec;
using catalog::Namespace;

constexpr size_t kIndexedPerBatch = 500;
constexpr auto kWaitForOthers = std::chrono::milliseconds(2);

class Build {
 public:
  Build(Context& context, const Namespace& ns, const CollectionPtr& collection, std::vector<uint32_t> numbers)
      : context_(context), ns_(ns), number_(collection->number), numbers_(std::move(numbers)) {}

  Status Run() {
    Operation& operation = context_.operation();
    operation.message = "Index Build: scanning collection";
    operation.progress_done = 0;
    std::string next = storage::DocumentRange(number_).begin;
    while (!next.empty()) {
      BRAID_CHECK_OK(Batch(&next));
      BRAID_CHECK_OK(operation.killed.load() != 0 ? operation.Check() : context_.Check());
    }
    BRAID_TRY(catalog::Catalog::Change done, context_.shared().catalog.FinishIndexes(ns_, numbers_, &operation));
    context_.NotePosition(done.position);
    return {};
  }

 private:
  /// Puts in documents from `next` on; sets it to where to go on, empty at the end.
  Status Batch(std::string* next) {
    const CollectionPtr collection = context_.shared().catalog.Find(ns_);
    if (collection == nullptr || collection->number != number_) {
      return {Code::kIndexBuildAborted, StrCat("collection ", ns_.ToString(), " was dropped during the index build")};
    }
    BRAID_TRY(Gate::Pass gate, collection->state->gate.Share(context_.operation()));
    if (context_.shared().catalog.Find(ns_) != collection) return {};  // changed before we had the gate: again
    std::vector<std::shared_ptr<const Index>> indexes;
    for (const auto& index : collection->indexes) {
      if (std::find(numbers_.begin(), numbers_.end(), index->number) == numbers_.end()) continue;
      BRAID_CHECK_OK(index->build_error());
      indexes.push_back(index);
    }
    if (indexes.size() != numbers_.size())
      return {Code::kIndexBuildAborted, "the index was dropped while it was built"};
    context_.operation().progress_total = static_cast<uint64_t>(std::max<int64_t>(0, collection->state->documents));

    std::vector<std::string> keys;
    const auto cursor = context_.shared().store.NewCursor(storage::DocumentRange(number_), {});
    for (cursor->Seek(*next); cursor->Valid() && keys.size() < kIndexedPerBatch; cursor->Next()) {
      keys.emplace_back(cursor->key());
    }
    BRAID_CHECK_OK(cursor->status());
    const std::string behind = cursor->Valid() ? std::string(cursor->key()) : std::string();

    Context batch(context_.shared(), context_.operation());
    size_t done = 0;
    Status status;
    for (; done < keys.size() && status.ok(); ++done) {
      status = Document(batch, collection, indexes, keys[done]);
      if (!status.ok()) break;
    }
    const bool conflict = status.code() == Code::kWriteConflict;
    if (!status.ok() && !conflict) return status;
    BRAID_CHECK_OK(batch.Commit());
    context_.NotePosition(batch.position());
    context_.operation().progress_done += done;
    *next = conflict ? keys[done] : behind;
    if (!conflict) return {};
    gate.Release();
    return batch.WaitForConflict();  // for an open transaction that has the document
  }

  static Status Document(Context& batch, const CollectionPtr& collection,
                         const std::vector<std::shared_ptr<const Index>>& indexes, const std::string& key) {
    storage::Buffer document;
    const std::string_view id_key = std::string_view(key).substr(storage::DocumentPrefix(0, 0).size());
    BRAID_TRY(const auto shard, ReadForChange(batch, *collection, id_key, storage::ShardOfKey(key), &document));
    if (!shard) return {};
    for (const auto& index : indexes) {
      BRAID_CHECK_OK(AddToIndex(batch, collection, index, *shard, bson::View(document.view())));
      BRAID_CHECK_OK(index->build_error());
    }
    return {};
  }

  Context& context_;
  const Namespace& ns_;
  const uint32_t number_;
  const std::vector<uint32_t> numbers_;
};

/// The specifications that do not exist yet. `wait`: another request is building one of them.
Result<std::vector<IndexSpec>> NewOnes(const catalog::Collection& collection, const std::vector<IndexSpec>& specs,
                                       bool* wait) {
  std::vector<IndexSpec> fresh;
  *wait = false;
  for (const IndexSpec& spec : specs) {
    bool known = false;
    for (const auto& existing : collection.indexes) {
      BRAID_TRY(bool same, spec.CompareWith(existing->spec));
      known = known || same;
      *wait = *wait || (same && existing->building);
    }
    for (const IndexSpec& earlier : fresh) {
      BRAID_TRY(bool same, spec.CompareWith(earlier));
      known = known || same;
    }
    if (!known) fresh.push_back(spec);
  }
  return fresh;
}

}  // namespace

Result<IndexBuildResult> BuildIndexes(Context& context, const Namespace& ns, const std::vector<IndexSpec>& specs) {
  catalog::Catalog& catalog = context.shared().catalog;
  BRAID_TRY(catalog::Catalog::Change ensured, catalog.Ensure(ns));
  context.NotePosition(ensured.position);
  IndexBuildResult result;
  result.created_collection = ensured.created;
  catalog::Catalog::Change started;
  size_t added = 0;
  while (true) {
    BRAID_CHECK_OK(context.Check());
    const CollectionPtr collection = catalog.Find(ns);
    if (collection == nullptr) {
      return Status(Code::kIndexBuildAborted, StrCat("collection ", ns.ToString(), " was dropped"));
    }
    bool wait = false;
    BRAID_TRY(std::vector<IndexSpec> fresh, NewOnes(*collection, specs, &wait));
    if (wait) {
      BRAID_CHECK_OK(context.operation().WaitFor(kWaitForOthers));
      continue;
    }
    result.indexes_before = result.indexes_after = collection->indexes.size();
    if (fresh.empty()) return result;
    added = fresh.size();
    auto change = catalog.StartIndexes(ns, std::move(fresh), &context.operation());
    if (change.ok()) {
      started = *std::move(change);
      break;
    }
    if (change.error().code() != Code::kIndexAlreadyExists)
      return change.error();  // otherwise another request was faster
  }
  std::vector<uint32_t> numbers;
  const auto& indexes = started.collection->indexes;
  BRAID_ASSERT(added > 0 && added < indexes.size());  // behind those that were there, _id's at least
  for (size_t i = indexes.size() - added; i < indexes.size(); ++i) numbers.push_back(indexes[i]->number);
  result.indexes_before = indexes.size() - added;
  result.indexes_after = indexes.size();
  const Status status = Build(context, ns, started.collection, numbers).Run();
  if (status.ok()) return result;
  if (const auto removed = catalog.RemoveIndexes(ns, numbers); removed.ok()) context.NotePosition(removed->position);
  return status;
}

Result<IndexBuildResult> BuildDraftIndexes(Context& context, const Namespace& ns, const std::vector<IndexSpec>& specs) {
  catalog::Catalog& catalog = context.shared().catalog;
  IndexBuildResult result;
  CollectionPtr collection = context.FindDraft(ns);
  const bool draft = collection != nullptr;
  if (!draft) collection = catalog.Find(ns);
  if (collection == nullptr) {
    BRAID_TRY(collection, catalog.Draft(ns, bson::View()));
    result.created_collection = true;
  }
  bool wait = false;
  BRAID_TRY(std::vector<IndexSpec> fresh, NewOnes(*collection, specs, &wait));
  result.indexes_before = result.indexes_after = collection->indexes.size();
  if (!draft && !result.created_collection) {
    if (fresh.empty() && !wait) return result;
    return Status(Code::kOperationNotSupportedInTransaction,
                  StrCat("Cannot create new indexes on existing collection ", ns.ToString(),
                         " in a multi-document transaction."));
  }
  auto changed = std::make_shared<catalog::Collection>(*collection);
  for (IndexSpec& spec : fresh) {
    auto index = std::make_shared<Index>();
    BRAID_TRY(index->number, catalog.TakeNumberNow());
    index->spec = std::move(spec);
    changed->indexes.push_back(std::move(index));
  }
  result.indexes_after = changed->indexes.size();
  const size_t first = changed->indexes.size() - fresh.size();
  const CollectionPtr grown = std::move(changed);
  const auto cursor = context.NewCursor(storage::DocumentRange(grown->number));
  for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
    BRAID_CHECK_OK(context.Check());
    const bson::Document document{bson::View(cursor->value())};
    for (size_t i = first; i < grown->indexes.size(); ++i) {
      BRAID_CHECK_OK(AddToIndex(context, grown, grown->indexes[i], storage::ShardOfKey(cursor->key()), document));
    }
  }
  BRAID_CHECK_OK(cursor->status());
  context.KeepDraft(grown);
  return result;
}

}  // namespace braid::txn
