// The catalogue: changes, and what is there after reopening.
#include "engine/catalog/catalog.h"

#include <atomic>
#include <thread>
#include <vector>

#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/bson/builder.h"
#include "engine/bson/json.h"

namespace braid::catalog {
namespace {

using bson::J;

class CatalogTest : public testing::Test {
 protected:
  void SetUp() override { Open(); }
  void Open() {
    catalog_.reset();
    store_.reset();
    auto store = storage::Store::Open({.directory = directory_.path(), .cache_bytes = 32 << 20});
    ASSERT_OK(store);
    store_ = std::move(*store);
    auto catalog = Catalog::Load(*store_);
    ASSERT_OK(catalog);
    catalog_ = std::move(*catalog);
  }
  static IndexSpec Spec(std::string_view json) { return *IndexSpec::Parse(J(json), nullptr); }
  size_t KeysIn(const storage::Range& range) {
    size_t keys = 0;
    auto cursor = store_->NewCursor(range, {});
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) ++keys;
    return keys;
  }
  void PutSome(uint32_t collection, uint32_t index) {
    storage::WriteSet writes(*store_);
    writes.Put(storage::DocumentPrefix(collection, 0) + "x", J("{'_id': 1}").bytes());
    writes.Put(storage::IndexPrefix(index, 0) + "x", "y");
    const uint64_t bits = 2;
    writes.Put(storage::MultikeyKey(index), {reinterpret_cast<const char*>(&bits), 8});
    writes.Add(storage::CountKey(collection, 0), 1);
    writes.Add(storage::BytesKey(collection, 0), 14);
    ASSERT_OK(store_->Commit(writes));
  }

  test::TemporaryDirectory directory_;
  std::unique_ptr<storage::Store> store_;
  std::unique_ptr<Catalog> catalog_;
  const Namespace ns_{"db", "c"};
};

TEST_F(CatalogTest, NamespacesAreChecked) {
  EXPECT_OK(Namespace::Make("db", "c.d-e"));
  for (const auto& [database, collection] :
       std::vector<std::pair<std::string, std::string>>{{"", "c"},
                                                        {"db", ""},
                                                        {"a.b", "c"},
                                                        {"a b", "c"},
                                                        {"db", "bad$name"},
                                                        {"db", ".c"},
                                                        {"a$", "c"},
                                                        {std::string(64, 'x'), "c"},
                                                        {"db", std::string(253, 'x')},
                                                        {"db", std::string("a\0b", 3)},
                                                        {"db", "a\xff"},
                                                        {"d\xc3", "c"}}) {
    EXPECT_EQ(Namespace::Make(database, collection).status().code(), Code::kInvalidNamespace) << database << collection;
  }
}

TEST_F(CatalogTest, DescriptionsSurviveReopening) {
  const auto created = catalog_->Create(
      ns_, J("{'validator': {'a': {'$gt': 1}}, 'validationLevel': 'moderate', 'validationAction': 'warn', 'collation': "
             "{'locale': 'en_US', 'strength': 2}, 'other': 5}"));
  ASSERT_OK(created);
  EXPECT_TRUE(created->created);
  ASSERT_OK(catalog_->Ensure({"db", "b"}));
  ASSERT_OK(catalog_->Ensure({"aa", "b"}));
  const auto started = catalog_->StartIndexes(
      ns_, {Spec("{'key': {'a': 1}, 'name': 'a_1', 'unique': true}"), Spec("{'key': {'b': 'hashed'}, 'name': 'b'}")});
  ASSERT_OK(started);
  ASSERT_OK(catalog_->FinishIndexes(ns_, {started->collection->indexes[1]->number}));
  PutSome(created->collection->number, started->collection->indexes[1]->number);
  const std::string before = created->collection->uuid;
  const uint32_t unfinished = started->collection->indexes[2]->number;
  storage::WriteSet writes(*store_);
  writes.Put(storage::IndexPrefix(unfinished, 0) + "x", "y");
  ASSERT_OK(store_->Commit(writes));
  Open();
  const CollectionPtr collection = catalog_->Find(ns_);
  ASSERT_NE(collection, nullptr);
  EXPECT_EQ(collection->uuid, before);
  EXPECT_EQ(collection->options.Find("other").AsInt32(), 5);
  EXPECT_EQ(collection->validation_level, ValidationLevel::kModerate);
  EXPECT_EQ(collection->validation_action, ValidationAction::kWarn);
  EXPECT_TRUE(*collection->validator.Matches(J("{'a': 2}")));
  EXPECT_FALSE(*collection->validator.Matches(J("{'a': 1}")));
  ASSERT_NE(collection->collation, nullptr);
  ASSERT_EQ(collection->indexes.size(), 2u);  // the unfinished one is gone, with its entries
  EXPECT_EQ(KeysIn(storage::IndexRange(unfinished)), 0u);
  EXPECT_TRUE(collection->indexes[0]->spec.is_id());
  EXPECT_TRUE(collection->indexes[1]->spec.unique);
  EXPECT_EQ(collection->indexes[1]->multikey, 2u);
  EXPECT_EQ(collection->state->documents, 1);
  EXPECT_EQ(collection->state->bytes, 14);
  EXPECT_EQ(catalog_->Databases(), (std::vector<std::string>{"aa", "db"}));
  EXPECT_EQ(catalog_->Collections("db").size(), 2u);
}

TEST_F(CatalogTest, NumbersAreNeverUsedAgain) {
  const uint32_t first = (*catalog_->Ensure(ns_)).collection->number;
  ASSERT_OK(catalog_->Drop(ns_));
  Open();
  EXPECT_GT((*catalog_->Ensure(ns_)).collection->number, first);
}

TEST_F(CatalogTest, CreateTwice) {
  ASSERT_OK(catalog_->Create(ns_, J("{'validator': {'a': 1}}")));
  const auto same = catalog_->Create(ns_, J("{'validator': {'a': 1}}"));
  ASSERT_OK(same);
  EXPECT_FALSE(same->created);
  EXPECT_EQ(catalog_->Create(ns_, J("{}")).status().code(), Code::kNamespaceExists);
  EXPECT_FALSE((*catalog_->Ensure(ns_)).created);
  EXPECT_EQ(catalog_->Create({"db", "system.foo"}, J("{}")).status().code(), Code::kInvalidNamespace);
  EXPECT_EQ(catalog_->Create({"db", "x"}, J("{'validationLevel': 'nope'}")).status().code(), Code::kBadValue);
  EXPECT_EQ(catalog_->Create({"db", "x"}, J("{'validator': {'$nope': 1}}")).status().code(), Code::kBadValue);
  EXPECT_EQ(catalog_->Find("db", "x"), nullptr);
}

TEST_F(CatalogTest, DropRemovesEverything) {
  ASSERT_OK(catalog_->Ensure(ns_));
  const auto started = catalog_->StartIndexes(ns_, {Spec("{'key': {'a': 1}, 'name': 'a_1'}")});
  ASSERT_OK(started);
  PutSome(started->collection->number, started->collection->indexes[1]->number);
  const auto dropped = catalog_->Drop(ns_);
  ASSERT_OK(dropped);
  EXPECT_TRUE(dropped->collection->state->dropped);
  EXPECT_EQ(catalog_->Find(ns_), nullptr);
  EXPECT_EQ((*catalog_->Drop(ns_)).position, 0u);
  EXPECT_EQ(KeysIn({"", ""}), 3u);  // the number, the cluster, the database
}

TEST_F(CatalogTest, InterruptedDropIsFinishedAtTheNextStart) {
  ASSERT_OK(catalog_->Ensure(ns_));
  PutSome(1000, 1001);
  storage::WriteSet writes(*store_);
  writes.Put(storage::PendingDropKey(1000, false), "");
  writes.Put(storage::PendingDropKey(1001, true), "");
  ASSERT_OK(store_->Commit(writes));
  Open();
  EXPECT_EQ(KeysIn({"", ""}), 4u);  // the number, the cluster, the database, and the description of ns_
}

TEST_F(CatalogTest, NumbersOfShardsThatAreUsedUpAreRefused) {
  ASSERT_OK(catalog_->ChangeCluster([](Cluster* cluster) {
    cluster->end = storage::kNoShard;
    return Status();
  }));
  const auto added = catalog_->ChangeCluster([](Cluster* cluster) {
    cluster->shards.push_back({.number = cluster->end++, .name = "one_more"});
    return Status();
  });
  EXPECT_EQ(added.status().code(), Code::kIllegalOperation);
  EXPECT_EQ(catalog_->shards().size(), 1u);
}

TEST_F(CatalogTest, ADescriptionWithoutTheIndexOfIdIsDamage) {
  auto broken = std::make_shared<Collection>(*(*catalog_->Ensure(ns_)).collection);
  broken->indexes.clear();
  EXPECT_EQ(ParseDescription(ns_, DescriptionOf(*broken)).status().code(), Code::kStorageCorrupt);
}

TEST_F(CatalogTest, Rename) {
  const Namespace to{"other", "d"};
  EXPECT_EQ(catalog_->Rename(ns_, to, false).status().code(), Code::kNamespaceNotFound);
  const uint32_t number = (*catalog_->Ensure(ns_)).collection->number;
  EXPECT_EQ(catalog_->Rename(ns_, ns_, false).status().code(), Code::kIllegalOperation);
  ASSERT_OK(catalog_->Ensure(to));
  EXPECT_EQ(catalog_->Rename(ns_, to, false).status().code(), Code::kNamespaceExists);
  ASSERT_OK(catalog_->Rename(ns_, to, true));
  EXPECT_EQ(catalog_->Find(ns_), nullptr);
  EXPECT_EQ(catalog_->Find(to)->number, number);
  Open();
  EXPECT_EQ(catalog_->Find(ns_), nullptr);
  EXPECT_EQ(catalog_->Find(to)->number, number);
}

// Those that come late must not take the renamed collection for the one that they replace.
TEST_F(CatalogTest, OneOfManyRenamesTakesPlace) {
  const Namespace to{"other", "d"};
  for (int round = 0; round < 300; ++round) {
    ASSERT_OK(catalog_->Ensure(ns_));
    ASSERT_OK(catalog_->Ensure(to));
    std::atomic<int> renamed{0};
    std::atomic<int> late{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        const Status status = catalog_->Rename(ns_, to, true).status();
        renamed += status.ok();
        late += status.code() == Code::kNamespaceNotFound;
      });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(renamed, 1);
    ASSERT_EQ(late, 3);
  }
}

TEST_F(CatalogTest, AStagingCollectionTakesThePlaceOnlyOfWhatWasThere) {
  const CollectionPtr before = catalog_->Create(ns_, J("{}").view())->collection;
  const Namespace staging = Catalog::NewStaging("db");
  ASSERT_OK(catalog_->Create(staging, J("{}").view()));
  ASSERT_OK(catalog_->StartIndexes(ns_, {Spec("{'v': 2, 'key': {'a': 1}, 'name': 'a_1'}")}));
  EXPECT_EQ(catalog_->TakePlace(staging, ns_, before).status().code(), Code::kCommandFailed);
  EXPECT_EQ(catalog_->TakePlace(staging, ns_, nullptr).status().code(), Code::kCommandFailed);
  ASSERT_NE(catalog_->Find(staging), nullptr);
  EXPECT_EQ(catalog_->Find(ns_)->number, before->number);
  const uint32_t number = catalog_->Find(staging)->number;
  ASSERT_OK(catalog_->TakePlace(staging, ns_, catalog_->Find(ns_)));
  EXPECT_EQ(catalog_->Find(ns_)->number, number);
  EXPECT_EQ(catalog_->Find(staging), nullptr);
}

TEST_F(CatalogTest, StagingCollectionsThatAreLeftAreDroppedAtTheNextStart) {
  const Namespace staging = Catalog::NewStaging("db");
  const Namespace similar{"db", "tmp.agg_out.mine"};
  ASSERT_OK(catalog_->Create(staging, J("{}").view()));
  ASSERT_OK(catalog_->Create(similar, J("{}").view()));
  Open();
  EXPECT_EQ(catalog_->Find(staging), nullptr);
  EXPECT_NE(catalog_->Find(similar), nullptr);
}

TEST_F(CatalogTest, ModifyChangesValidatorAndIndexes) {
  ASSERT_OK(catalog_->Create(ns_, J("{'validator': {'a': 1}, 'x': 1}")));
  const auto started = catalog_->StartIndexes(ns_, {Spec("{'key': {'t': 1}, 'name': 't', 'expireAfterSeconds': 5}")});
  ASSERT_OK(started);
  ASSERT_OK(catalog_->FinishIndexes(ns_, {started->collection->indexes[1]->number}));
  ASSERT_OK(catalog_->Modify(ns_, [](Collection* collection) -> Status {
    collection->validator_spec = J("{'b': 2}");
    collection->validation_level = ValidationLevel::kOff;
    auto index = collection->indexes[1]->Clone();
    index->spec.expire_after_seconds = 9;
    collection->indexes[1] = index;
    return {};
  }));
  for (int pass = 0; pass < 2; ++pass) {
    const CollectionPtr collection = catalog_->Find(ns_);
    EXPECT_EQ(bson::ToShell(collection->options), "{ x: 1, validator: { b: 2 }, validationLevel: \"off\" }");
    EXPECT_TRUE(*collection->validator.Matches(J("{'b': 2}")));
    EXPECT_EQ(collection->indexes[1]->spec.expire_after_seconds, 9);
    Open();
  }
  EXPECT_EQ(catalog_
                ->Modify(ns_,
                         [](Collection* collection) -> Status {
                           collection->validator_spec = J("{'$nope': 2}");
                           return {};
                         })
                .status()
                .code(),
            Code::kBadValue);
  EXPECT_EQ(catalog_->Modify({"no", "no"}, [](Collection*) { return Status(); }).status().code(),
            Code::kNamespaceNotFound);
}

TEST_F(CatalogTest, AtMost64Indexes) {
  ASSERT_OK(catalog_->Ensure(ns_));
  std::vector<IndexSpec> specs;
  for (int i = 0; i < 63; ++i) specs.push_back(Spec(StrCat("{'key': {'f", i, "': 1}, 'name': 'f", i, "'}")));
  ASSERT_OK(catalog_->StartIndexes(ns_, specs));
  EXPECT_EQ(catalog_->StartIndexes(ns_, {Spec("{'key': {'z': 1}, 'name': 'z'}")}).status().code(),
            Code::kCannotCreateIndex);
  EXPECT_EQ(catalog_->Find(ns_)->indexes.size(), 64u);
}

TEST_F(CatalogTest, ExpiryLooksAtTheEarliestDate) {
  Collection collection;
  auto index = std::make_shared<Index>();
  index->spec = Spec("{'key': {'t': 1}, 'name': 't', 'expireAfterSeconds': 10, 'partialFilterExpression': {'p': 1}}");
  collection.indexes.push_back(index);
  const auto expired = [&collection](std::string_view json) { return collection.IsExpired(J(json), 20'000); };
  EXPECT_TRUE(expired("{'p': 1, 't': {'$date': {'$numberLong': '10000'}}}"));
  EXPECT_FALSE(expired("{'p': 1, 't': {'$date': {'$numberLong': '10001'}}}"));
  EXPECT_FALSE(expired("{'p': 2, 't': {'$date': {'$numberLong': '10000'}}}"));
  EXPECT_FALSE(expired("{'p': 1, 't': 5}"));
  EXPECT_FALSE(expired("{'p': 1}"));
  EXPECT_TRUE(expired("{'p': 1, 't': [1, {'$date': {'$numberLong': '99999'}}, {'$date': {'$numberLong': '5'}}]}"));
}

}  // namespace
}  // namespace braid::catalog
