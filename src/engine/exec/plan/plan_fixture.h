// What the tests of plans share: a collection in a store of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/testing/testing.h"
#include "engine/bson/json.h"
#include "engine/exec/plan/plan.h"
#include "engine/txn/records.h"

namespace braid::query::plan {

/// A store with one collection, t.c.
class PlanFixture {
 public:
  PlanFixture();

  /// Indexes as createIndexes takes them; before the documents they are to hold.
  void AddIndex(std::string_view json) { ASSERT_OK(TryIndex(bson::J(json))); }
  Status TryIndex(bson::View specification);
  void Insert(std::string_view json) { Insert(bson::J(json)); }
  void Insert(bson::View document);
  const catalog::CollectionPtr& collection() const { return collection_; }
  ManualClock& clock() { return clock_; }

  /// A query over the collection.
  Query Find(std::string_view filter = "{}", std::string_view sort = "{}", std::string_view projection = "{}");
  Query Find(bson::View filter, bson::View sort, bson::View projection,
             std::shared_ptr<const bson::Collation> collation = nullptr);

  /// All documents of a plan; the error if it fails.
  Result<std::vector<bson::Document>> Read(Query query);
  /// The same as JSON texts joined by spaces, or the error.
  std::string Show(Query query);
  /// The explain of the plan after it was run.
  bson::Document Explain(Query query);
  /// stages from the top: "LIMIT FETCH IXSCAN(a_1)".
  std::string Stages(Query query);
  Result<int64_t> Count(const Query& query);

  /// A context of its own, for what is not read to the end at once.
  class Session {
   public:
    explicit Session(PlanFixture& fixture)
        : handle_(fixture.operations_.Start()), context_(std::make_unique<txn::Context>(fixture.shared_, *handle_)) {}
    txn::Context& context() { return *context_; }

   private:
    txn::Operations::Handle handle_;
    std::unique_ptr<txn::Context> context_;
  };

 private:
  test::TemporaryDirectory directory_;
  ManualClock clock_;
  std::unique_ptr<storage::Store> store_;
  std::unique_ptr<catalog::Catalog> catalog_;
  txn::LockTable locks_;
  txn::Operations operations_{clock_};
  txn::Shared shared_;
  catalog::CollectionPtr collection_;
};

}  // namespace braid::query::plan
