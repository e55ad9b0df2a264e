#include "services/settlement/migration/reader.h"

namespace braid::settlement::migration {

Result<std::unique_ptr<MigratingReader>> MigratingReader::Open(Clients& clients, const MigrationOptions& options) {
  BRAID_TRY(std::unique_ptr<StateStore> store, StateStore::Open(clients, options));
  BRAID_TRY(std::unique_ptr<Mirror> mirror, Mirror::Open(*store));
  return std::unique_ptr<MigratingReader>(new MigratingReader(std::move(store), std::move(mirror)));
}

Status MigratingReader::Read(int64_t from_sequence, const std::function<Status(const Output&)>& each) {
  const MigrationOptions& options = store_->options();
  for (;;) {
    BRAID_TRY(const ReadSource source, Source());
    if (source == ReadSource::kChains) {
      return mirror_->chains().Merge(from_sequence, [&](const ChainRecordView& record) -> Status {
        BRAID_TRY(const Output output, parser_.Decode(record.payload));
        return each(output);
      });
    }
    // After every batch it is asked again: the end of a table may be that it was dropped.
    BRAID_TRY(const std::vector<OldRecord> records,
              ReadOld(store_->clients(), options.database, options.old_table,
                      {.after = from_sequence - 1, .limit = options.batch_records_max}));
    for (const OldRecord& record : records) {
      BRAID_TRY(const Output output, FromOld(parser_, record));
      BRAID_CHECK_OK(each(output));
      from_sequence = record.sequence + 1;
    }
    if (records.size() == options.batch_records_max) continue;
    BRAID_TRY(const ReadSource now, Source());
    if (now == source) return {};
  }
}

}  // namespace braid::settlement::migration
