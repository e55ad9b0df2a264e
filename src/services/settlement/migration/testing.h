// What the tests of the migration share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "services/settlement/migration/migrator.h"
#include "services/settlement/migration/reader.h"
#include "services/settlement/migration/writer.h"
#include "services/settlement/testing.h"

namespace braid::settlement::migration {

/// A store, and a plain list of all outputs that were written to it.
class MigrationStoreTest : public SettlementStoreTest {
 protected:
  MigrationOptions Options() const {
    MigrationOptions options;
    options.database = store_.database();
    options.log = log_;
    options.old_table = old_table_;
    options.layout = layout_;
    options.batch_records_max = 17;
    return options;
  }
  std::unique_ptr<MigratingWriter> OpenWriter() { return *MigratingWriter::Open(store_.clients(), Options()); }
  std::unique_ptr<Migrator> OpenMigrator() { return *Migrator::Open(store_.clients(), Options()); }
  std::unique_ptr<MigratingReader> OpenReader() { return *MigratingReader::Open(store_.clients(), Options()); }

  /// Made-up outputs, in batches of up to 10.
  void Write(MigratingWriter& writer, int count) {
    while (count > 0) {
      std::vector<Output> outputs;
      for (int i = 0; i < 10 && count > 0; ++i, --count) outputs.push_back(generator_.Next());
      const auto written = writer.AppendNext(outputs);
      ASSERT_OK(written);
      for (size_t i = 0; i < outputs.size(); ++i) {
        outputs[i].output_seq = written->first_seq + static_cast<int64_t>(i);
        model_.push_back(EncodePayload(outputs[i]));
      }
    }
  }
  /// Changes one document directly.
  void InsertInto(const std::string& collection, const client::Bson& document) {
    bson_error_t error;
    const Client client = store_.clients().Acquire();
    const auto handle = client::CollectionOf(client.get(), store_.database(), collection);
    ASSERT_TRUE(mongoc_collection_insert_one(handle.get(), document.get(), nullptr, nullptr, &error)) << error.message;
  }
  void SetIn(const std::string& collection, int64_t id, const client::Bson& fields) {
    bson_error_t error;
    client::Bson filter;
    filter.Integer("_id", id);
    client::Bson change;
    change.Document("$set", fields);
    const Client client = store_.clients().Acquire();
    const auto handle = client::CollectionOf(client.get(), store_.database(), collection);
    ASSERT_TRUE(mongoc_collection_update_one(handle.get(), filter.get(), change.get(), nullptr, nullptr, &error))
        << error.message;
  }
  void RemoveFrom(const std::string& collection, int64_t id) {
    bson_error_t error;
    client::Bson filter;
    filter.Integer("_id", id);
    const Client client = store_.clients().Acquire();
    const auto handle = client::CollectionOf(client.get(), store_.database(), collection);
    ASSERT_TRUE(mongoc_collection_delete_one(handle.get(), filter.get(), nullptr, nullptr, &error)) << error.message;
  }
  Phase PhaseNow() { return OpenMigrator()->Load()->phase; }
  ReadSource SourceNow() { return *OpenReader()->Source(); }

  /// A reader sees exactly what was written, and the chains are sound.
  void ExpectModel() {
    std::vector<std::string> seen;
    ASSERT_OK(OpenReader()->Read(1, [&](const Output& output) {
      seen.push_back(EncodePayload(output));
      return Status();
    }));
    EXPECT_EQ(seen, model_);
    ExpectSound(Open()->chains());
  }

  std::string log_ = MigrationOptions().log;
  std::string old_table_ = MigrationOptions().old_table;
  OldLayout layout_;
  Generator generator_{{.symbols = 4, .cross_percent = 20, .seed = test::Seed()}};
  std::vector<std::string> model_;  // payloads
};

}  // namespace braid::settlement::migration
