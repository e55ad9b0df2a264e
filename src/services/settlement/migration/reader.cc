#include "services/settlement/migration/reader.h"

namespace braid::settlement::migration {

Result<ReadSource> ReadSourceOf(StateStore& store) {
  BRAID_TRY(const State state, store.Load());
  return ReadsChains(state.phase) ? ReadSource::kChains : ReadSource::kOldTable;
}

Result<std::unique_ptr<MigratingReader>> MigratingReader::Open(Clients& clients, const MigrationOptions& options) {
  BRAID_TRY(std::unique_ptr<StateStore> store, StateStore::Open(clients, options));
  BRAID_TRY(std::unique_ptr<Mirror> mirror, Mirror::Open(*store));
  return std::unique_ptr<MigratingReader>(new MigratingReader(std::move(store), std::move(mirror)));
}

Status MigratingReader::Read(int64_t from_sequence, const OnOutput& each) {
  const MigrationOptions& options = store_->options();
  for (;;) {
    BRAID_TRY(const State state, store_->Load());
    if (ReadsChains(state.phase)) return ReadChains({.from = from_sequence, .to = state.mirrored_seq}, each);
    // The head is not the limit: while no migration is running, other programs may write to the table, too.
    BRAID_TRY(const std::optional<OldRecord> newest, NewestOld(store_->clients(), options.OldOnes()));
    BRAID_TRY(from_sequence, ReadTable({.from = from_sequence, .to = newest ? newest->sequence : 0}, each));
    // A table may seem to end because it was dropped.
    BRAID_TRY(const ReadSource source, Source());
    if (source == ReadSource::kOldTable) return {};
  }
}

// Reads up to the mirror: later outputs may be in some chains only.
Status MigratingReader::ReadChains(const Span& span, const OnOutput& each) {
  if (span.from > span.to) return {};
  bool past_the_end = false;
  const Status merged = mirror_->chains().Merge(span.from, [&](const ChainRecordView& record) -> Status {
    past_the_end = record.sequence > span.to;
    if (past_the_end) return Status(Code::kInterrupted, "the end of the range");
    BRAID_TRY(const Output output, parser_.Decode(record.payload));
    return each(output);
  });
  return past_the_end ? Status() : merged;
}

// Returns the sequence to continue from.
Result<int64_t> MigratingReader::ReadTable(const Span& span, const OnOutput& each) {
  const MigrationOptions& options = store_->options();
  int64_t next = span.from;
  while (next <= span.to) {
    BRAID_TRY(const std::vector<OldRecord> records,
              ReadOld(store_->clients(), options.OldOnes(), {.after = next - 1, .limit = options.batch_records_max}));
    if (records.empty()) break;
    for (const OldRecord& record : records) {
      BRAID_TRY(const Output output, FromOld(parser_, record));
      BRAID_CHECK_OK(each(output));
      next = record.sequence + 1;
    }
  }
  return next;
}

}  // namespace braid::settlement::migration
