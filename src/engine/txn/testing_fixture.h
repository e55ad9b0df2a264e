// What the tests of this folder share: a store, a catalogue, a clock that stands still.
#pragma once

#include <thread>

#include "base/testing/testing.h"
#include "engine/bson/json.h"
#include "engine/txn/context.h"
#include "engine/txn/index_build.h"
#include "engine/txn/records.h"
#include "engine/txn/validate.h"

namespace braid::txn {

class TxnTest : public testing::Test {
 protected:
  void SetUp() override { Open(); }
  void Open() {
    shared_.reset();
    catalog_.reset();
    store_.reset();
    auto store = storage::Store::Open({.directory = directory_.path(), .cache_bytes = 32 << 20});
    ASSERT_OK(store);
    store_ = std::move(*store);
    auto catalog = catalog::Catalog::Load(*store_);
    ASSERT_OK(catalog);
    catalog_ = std::move(*catalog);
    shared_.reset(new Shared{*store_, *catalog_, locks_, operations_, clock_});
  }

  catalog::CollectionPtr Find() { return catalog_->Find(ns_); }
  void Create(std::string_view options = "{}") { ASSERT_OK(catalog_->Create(ns_, bson::J(options))); }

  /// Runs `body` as a statement does: under the gate, again after a conflict.
  Status Statement(const std::function<Status(Context&, const catalog::CollectionPtr&)>& body) {
    while (true) {
      const catalog::CollectionPtr collection = Find();
      Operations::Handle operation = operations_.Start();
      BRAID_TRY(Gate::Pass gate, collection->state->gate.Share(*operation));
      if (Find() != collection) continue;
      Context context(*shared_, *operation);
      Status status = body(context, collection);
      if (status.code() == Code::kWriteConflict) {
        context.Abort();
        gate.Release();
        std::this_thread::yield();
        continue;
      }
      BRAID_CHECK_OK(status);
      return context.Commit();
    }
  }
  Status Insert(bson::View document) {
    return Statement(
        [&](Context& context, const auto& collection) { return txn::Insert(context, collection, document); });
  }
  Status Insert(std::string_view json) {
    const bson::Document document = bson::J(json);
    return Insert(document.view());
  }
  /// Puts `after` in the place of the document with its _id; kNamespaceNotFound if there is none.
  Status Replace(bson::View after) {
    return Statement([&](Context& context, const auto& collection) -> Status {
      storage::Buffer before;
      BRAID_TRY(const auto shard, ReadForChange(context, *collection, after.Find("_id"), &before));
      if (!shard) return {Code::kNamespaceNotFound, "no such document"};
      return txn::Replace(context, collection, *shard, bson::View(before.view()), after);
    });
  }
  Status Remove(const bson::Value& id) {
    return Statement([&](Context& context, const auto& collection) -> Status {
      storage::Buffer before;
      BRAID_TRY(const auto shard, ReadForChange(context, *collection, id, &before));
      if (!shard) return {};
      return txn::Remove(context, collection, *shard, bson::View(before.view()));
    });
  }
  Result<IndexBuildResult> Build(std::vector<std::string> specs) {
    std::vector<catalog::IndexSpec> parsed;
    for (const std::string& spec : specs) {
      const auto collection = Find();
      BRAID_TRY(catalog::IndexSpec one,
                catalog::IndexSpec::Parse(bson::J(spec), collection == nullptr ? nullptr : collection->collation));
      parsed.push_back(std::move(one));
    }
    Operations::Handle operation = operations_.Start();
    Context context(*shared_, *operation);
    return BuildIndexes(context, ns_, parsed);
  }
  Status Check() {
    Operations::Handle operation = operations_.Start();
    Context context(*shared_, *operation);
    return CheckIndexes(context, *Find());
  }
  size_t KeysIn(const storage::Range& range) {
    size_t keys = 0;
    auto cursor = store_->NewCursor(range, {});
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) ++keys;
    return keys;
  }

  test::TemporaryDirectory directory_;
  ManualClock clock_;
  std::unique_ptr<storage::Store> store_;
  std::unique_ptr<catalog::Catalog> catalog_;
  LockTable locks_;
  Operations operations_{clock_};
  std::unique_ptr<Shared> shared_;
  const catalog::Namespace ns_{"db", "c"};
};

}  // namespace braid::txn
