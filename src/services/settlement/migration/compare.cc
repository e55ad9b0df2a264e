// Whether the new chains hold what the old table holds.
#include "services/settlement/migration/migrator.h"

#include <algorithm>
#include <optional>

#include "base/assert.h"
#include "base/strings.h"

namespace braid::settlement::migration {
namespace {

constexpr size_t kDifferencesMax = 1000;

// The outputs of the old table in order. Broken links are collected and do not end the walk.
class OldReader {
 public:
  OldReader(StateStore& store, const CompareRange& range) : store_(store), range_(range), after_(range.after) {}

  /// The hash of the record before the range: the first link is checked against it.
  Status Start(CompareReport& report) {
    if (range_.after == 0) return {};
    BRAID_TRY(const std::vector<OldRecord> before,
              ReadOld(store_.clients(), store_.options().OldOnes(), {.after = range_.after - 1, .limit = 1}));
    if (!before.empty() && before.front().sequence == range_.after) {
      prev_hash_ = before.front().hash;
    } else {
      report.Add({.output_seq = range_.after, .what = "is not in the old table any more"});
    }
    return {};
  }

  Result<std::optional<OldRecord>> Next(CompareReport& report) {
    BRAID_ASSERT(index_ <= batch_.size());
    const MigrationOptions& options = store_.options();
    if (index_ == batch_.size()) {
      BRAID_CHECK_OK(options.CheckStop());
      index_ = 0;
      BRAID_TRY(batch_,
                ReadOld(store_.clients(), options.OldOnes(), {.after = after_, .limit = options.batch_records_max}));
      if (options.on_progress) options.on_progress("verify", after_, range_.to);
    }
    if (index_ == batch_.size() || batch_[index_].sequence > range_.to) return std::optional<OldRecord>();
    OldRecord& record = batch_[index_++];
    after_ = record.sequence;
    ++report.old_outputs;
    if (const Status link = CheckLink(options.layout, prev_hash_, record); !link.ok()) {
      report.Add({.output_seq = record.sequence, .what = std::string(link.message())});
    }
    prev_hash_ = record.hash;
    return std::optional<OldRecord>(std::move(record));
  }

 private:
  StateStore& store_;
  const CompareRange range_;
  int64_t after_;
  int64_t prev_hash_ = 0;
  std::vector<OldRecord> batch_;
  size_t index_ = 0;
};

// Walks both sides in step.
class Comparison {
 public:
  Comparison(OldReader& old, CompareReport& report) : old_(old), report_(report) {}

  Status Begin() { return Advance(); }

  Status OnNew(const ChainRecordView& record) {
    ++report_.new_outputs;
    while (expected_ && expected_->output_seq < record.sequence) {
      Missing();
      BRAID_CHECK_OK(Advance());
    }
    if (!expected_ || expected_->output_seq > record.sequence) {
      const bool twice = record.sequence == latest_;
      report_.Add({record.sequence, record.chain,
                   twice ? "is in more chains than its symbols say" : "is not in the old table"});
      return {};
    }
    CompareOne(record);
    latest_ = record.sequence;
    return Advance();
  }

  Status End() {
    while (expected_) {
      Missing();
      BRAID_CHECK_OK(Advance());
    }
    return {};
  }

 private:
  // A record that holds no output cannot be compared.
  Status Advance() {
    for (;;) {
      expected_.reset();
      BRAID_TRY(const std::optional<OldRecord> record, old_.Next(report_));
      if (!record) return {};
      Result<Output> output = FromOld(parser_, *record);
      if (output.ok()) {
        expected_ = *std::move(output);
        return {};
      }
      report_.Add({.output_seq = record->sequence, .what = std::string(output.error().message())});
    }
  }

  void Missing() {
    BRAID_ASSERT(expected_.has_value());
    report_.Add({expected_->output_seq, expected_->symbol_id(), "is not in the new chains"});
  }

  void CompareOne(const ChainRecordView& record) {
    BRAID_ASSERT(expected_ && expected_->output_seq == record.sequence);
    std::vector<int64_t> chains(record.also.begin(), record.also.end());
    chains.push_back(record.chain);
    std::sort(chains.begin(), chains.end());
    std::vector<int64_t> symbols = expected_->other_symbols();
    symbols.push_back(expected_->symbol_id());
    std::sort(symbols.begin(), symbols.end());
    if (chains != symbols) {
      report_.Add({record.sequence, record.chain,
                   StrCat("is in ", chains.size(), " chains, the smallest ", chains.front(), "; expected ",
                          symbols.size(), ", the smallest ", symbols.front())});
    }
    if (const std::string payload = EncodePayload(*expected_); payload != record.payload) {
      report_.Add({record.sequence, record.chain, StrCat("expected ", payload, ", got ", record.payload)});
    }
  }

  OldReader& old_;
  CompareReport& report_;
  OutputParser parser_;
  std::optional<Output> expected_;  // the next of the old table; none at its end
  int64_t latest_ = 0;
};

}  // namespace

void CompareReport::Add(Difference difference) {
  ++differences_total;
  if (differences.size() < kDifferencesMax) differences.push_back(std::move(difference));
}

Result<CompareReport> Compare(StateStore& store, Mirror& mirror, const CompareRange& range) {
  CompareReport report;
  BRAID_TRY(const VerifyReport chains, mirror.chains().Verify({.from_sequence = range.after + 1}));
  for (const ChainDamage& damage : chains.damage) report.Add({damage.sequence, damage.chain, damage.what});
  report.differences_total = chains.damaged;
  // A segment that cannot be read is reported above; the walk would end there.
  if (!report.ok()) return report;
  OldReader old(store, range);
  BRAID_CHECK_OK(old.Start(report));
  Comparison comparison(old, report);
  BRAID_CHECK_OK(comparison.Begin());
  bool past_the_end = false;
  const Status merged = mirror.chains().Merge(range.after + 1, [&](const ChainRecordView& record) -> Status {
    past_the_end = record.sequence > range.to;
    if (past_the_end) return Status(Code::kInterrupted, "the end of the range");
    return comparison.OnNew(record);
  });
  if (!past_the_end) BRAID_CHECK_OK(merged);
  BRAID_CHECK_OK(comparison.End());
  return report;
}

}  // namespace braid::settlement::migration
