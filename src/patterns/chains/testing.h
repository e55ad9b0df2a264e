// What the tests of chains share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/strings.h"
#include "braid/chains.h"
#include "client/handles.h"
#include "embedded/testing/stores.h"

namespace braid::chains {

/// A store with a log of its own.
class ChainsStoreTest : public test::StoreTest {
 protected:
  ChainsOptions Options(const std::string& owner = "") const {
    ChainsOptions options;
    options.database = store_.database();
    options.log = "log";
    options.owner = owner;
    return options;
  }
  std::unique_ptr<Chains> Open(const ChainsOptions& options) {
    auto opened = Chains::Open(store_.clients(), options);
    EXPECT_OK(opened);
    return *std::move(opened);
  }
  std::unique_ptr<Chains> Open() { return Open(Options()); }

  /// One record, alone; the status of the store or of the record.
  static Status AppendOne(Chains& chains, const ChainRecord& record) {
    const auto appended = chains.Append({&record, 1});
    return appended.ok() ? appended->front().status : appended.error();
  }

  /// What Merge() gives, each as "sequence@chain payload".
  static std::vector<std::string> Merged(Chains& chains, int64_t from_sequence = 1) {
    std::vector<std::string> records;
    EXPECT_OK(chains.Merge(from_sequence, [&](const ChainRecordView& record) {
      records.push_back(StrCat(record.sequence, "@", record.chain, " ", record.payload));
      return Status();
    }));
    return records;
  }
  /// Nothing is wrong with any chain.
  static void ExpectSound(Chains& chains) {
    const auto report = chains.Verify({});
    ASSERT_OK(report);
    EXPECT_EQ(report->damaged, 0);
    for (const ChainDamage& damage : report->damage) {
      ADD_FAILURE() << "chain " << damage.chain << ", sequence " << damage.sequence << ": " << damage.what;
    }
  }
  /// All documents of a collection.
  std::vector<client::BsonPtr> Documents(const std::string& collection) {
    const Client client = store_.clients().Acquire();
    const client::Bson all;
    std::vector<client::BsonPtr> documents;
    const auto handle = client::CollectionOf(client.get(), store_.database(), collection);
    const client::CursorPtr cursor(mongoc_collection_find_with_opts(handle.get(), all.get(), nullptr, nullptr));
    const bson_t* document = nullptr;
    while (mongoc_cursor_next(cursor.get(), &document)) documents.emplace_back(bson_copy(document));
    return documents;
  }
  /// Replaces all documents of a collection by these.
  void Replace(const std::string& collection, const std::vector<client::BsonPtr>& documents) {
    const Client client = store_.clients().Acquire();
    const client::Bson all;
    const auto handle = client::CollectionOf(client.get(), store_.database(), collection);
    bson_error_t error{};
    ASSERT_TRUE(mongoc_collection_delete_many(handle.get(), all.get(), nullptr, nullptr, &error)) << error.message;
    for (const client::BsonPtr& document : documents) {
      ASSERT_TRUE(mongoc_collection_insert_one(handle.get(), document.get(), nullptr, nullptr, &error))
          << error.message;
    }
  }
};

inline ChainRecord RecordOf(int64_t chain, int64_t sequence, std::string payload = "payload") {
  ChainRecord record;
  record.chain = chain;
  record.sequence = sequence;
  record.payload = std::move(payload);
  return record;
}

}  // namespace braid::chains
