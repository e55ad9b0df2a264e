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

  Generator generator_{{.symbols = 4, .cross_percent = 20, .seed = test::Seed()}};
  std::vector<std::string> model_;  // payloads
};

}  // namespace braid::settlement::migration
