// Readings of a whole log, and the hashing of the same bytes that they are compared with.
#include <openssl/evp.h>

#include <algorithm>
#include <chrono>

#include "base/assert.h"
#include "base/strings.h"
#include "base/workers.h"
#include "bench/ledger_runs.h"
#include "client/handles.h"

namespace braid::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kRepeatSeconds = 1;

// Short ones are repeated for so long: the mean.
Status Measure(double for_seconds, LedgerReadRow& row, const std::function<Status()>& reading) {
  const Clock::time_point start = Clock::now();
  const int64_t cpu_before = OwnCpuMicros();
  for (int times = 1;; ++times) {
    BRAID_CHECK_OK(reading());
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (seconds + seconds / times <= for_seconds) continue;
    row.seconds = seconds / times;
    const auto records = static_cast<double>(std::max<int64_t>(1, row.records));
    row.cpu_micros = static_cast<double>(OwnCpuMicros() - cpu_before) / times / records;
    return {};
  }
}

LedgerReadRow RowOf(LedgerRead what, Spread spread, std::span<const ChainRecord> records, uint32_t threads) {
  LedgerReadRow row{.what = what, .spread = spread, .threads = threads};
  row.records = static_cast<int64_t>(records.size());
  for (const ChainRecord& record : records) row.payload_bytes += static_cast<int64_t>(record.payload.size());
  return row;
}

void HashStream(std::span<const ChainRecord> records) {
  const std::unique_ptr<EVP_MD_CTX, decltype([](EVP_MD_CTX* context) { EVP_MD_CTX_free(context); })> context(
      EVP_MD_CTX_new());
  BRAID_ASSERT(EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1);
  for (const ChainRecord& record : records) {
    BRAID_ASSERT(EVP_DigestUpdate(context.get(), record.payload.data(), record.payload.size()) == 1);
  }
  uint8_t hash[EVP_MAX_MD_SIZE];
  BRAID_ASSERT(EVP_DigestFinal_ex(context.get(), hash, nullptr) == 1);
}

void HashRecords(std::span<const ChainRecord> records) {
  ChainRecordView view;
  for (const ChainRecord& record : records) {
    view.chain = record.chain;
    view.sequence = record.sequence;
    view.payload = record.payload;
    view.prev_hash = HashChainRecord(view);  // the next one's: nothing can be left out
  }
}

/// The bytes of the log's documents.
Result<int64_t> Scan(Clients& clients, const std::string& database, const std::string& log) {
  const Client connection = clients.Acquire();
  const client::CollectionPtr collection = client::CollectionOf(connection.get(), database, log);
  const client::Bson all;
  const client::CursorPtr cursor(mongoc_collection_find_with_opts(collection.get(), all.get(), nullptr, nullptr));
  int64_t bytes = 0;
  const bson_t* document = nullptr;
  while (mongoc_cursor_next(cursor.get(), &document)) bytes += document->len;
  bson_error_t error{};
  if (mongoc_cursor_error(cursor.get(), &error)) return client::FromError(error);
  return bytes;
}

Status Verify(Chains& chains, uint32_t threads, int64_t expected) {
  BRAID_TRY(const VerifyReport report, chains.Verify({.threads = threads}));
  if (report.ok() && report.records == expected) return {};
  return Status(Code::kInternalError, StrCat("expected ", expected, " sound records, got ", report.records, " and ",
                                             report.damaged, " damages"));
}

Status Merge(Chains& chains, int64_t expected) {
  int64_t last = 0;
  BRAID_CHECK_OK(chains.Merge(1, [&](const ChainRecordView& record) {
    return record.sequence == ++last ? Status() : Status(Code::kInternalError, StrCat("no record ", last));
  }));
  if (last == expected) return {};
  return Status(Code::kInternalError, StrCat("expected ", expected, " records in order, got ", last));
}

}  // namespace

const char* NameOf(LedgerRead what) {
  switch (what) {
    case LedgerRead::kShaStream: return "SHA-256, one stream";
    case LedgerRead::kShaRecords: return "SHA-256, each record";
    case LedgerRead::kScan: return "scan of the log";
    case LedgerRead::kVerify: return "verification";
    case LedgerRead::kMerge: return "merge (recovery)";
    case LedgerRead::kReplay: return "replay into the views";
  }
  return "";
}

Result<std::vector<LedgerReadRow>> MeasureHashing(const LedgerOptions& options, Spread spread,
                                                  std::span<const ChainRecord> records,
                                                  std::span<const uint32_t> threads) {
  const double for_seconds = std::min(kRepeatSeconds, options.seconds_max);
  std::vector<LedgerReadRow> rows;
  for (const LedgerRead what : {LedgerRead::kShaStream, LedgerRead::kShaRecords}) {
    for (const uint32_t count : threads) {
      Workers helpers(count - 1);
      LedgerReadRow& row = rows.emplace_back(RowOf(what, spread, records, count));
      BRAID_CHECK_OK(Measure(for_seconds, row, [&]() -> Status {
        helpers.Run(count, [&](size_t i) {
          const size_t begin = records.size() * i / count;
          const auto part = records.subspan(begin, records.size() * (i + 1) / count - begin);
          what == LedgerRead::kShaStream ? HashStream(part) : HashRecords(part);
        });
        return {};
      }));
    }
  }
  return rows;
}

Result<std::vector<LedgerReadRow>> MeasureReading(Clients& clients, const LedgerOptions& options, Spread spread,
                                                  std::span<const ChainRecord> records,
                                                  std::span<const uint32_t> threads) {
  const double for_seconds = std::min(kRepeatSeconds, options.seconds_max);
  BRAID_TRY(const std::unique_ptr<Chains> chains, Chains::Open(clients, {.database = options.database}));
  const auto count = static_cast<int64_t>(records.size());
  std::vector<LedgerReadRow> rows;
  rows.push_back(RowOf(LedgerRead::kScan, spread, records, 1));
  BRAID_CHECK_OK(Measure(for_seconds, rows.back(),
                         [&] { return Scan(clients, options.database, chains->options().log).status(); }));
  for (const uint32_t each : threads) {
    rows.push_back(RowOf(LedgerRead::kVerify, spread, records, each));
    BRAID_CHECK_OK(Measure(for_seconds, rows.back(), [&] { return Verify(*chains, each, count); }));
  }
  rows.push_back(RowOf(LedgerRead::kMerge, spread, records, 1));
  BRAID_CHECK_OK(Measure(for_seconds, rows.back(), [&] { return Merge(*chains, count); }));
  return rows;
}

}  // namespace braid::bench
