#include "cli/settlement/damage.h"

#include <atomic>
#include <cstdio>

#include "base/strings.h"
#include "cli/settlement/actions.h"
#include "cli/transfer/progress.h"

namespace braid::cli::settlement {
namespace {}  // namespace

Result<VerifyReport> VerifyWithProgress(Chains& chains, VerifyOptions options) {
  std::atomic<int64_t> verified = 0;
  options.on_progress = [&](int64_t records) { verified = records; };
  const transfer::Progress line([&] { return StrCat(verified.load(), " records verified"); }, false);
  return chains.Verify(options);
}

void AppendTo(client::Bson& json, const std::vector<ChainDamage>& damage) {
  client::Bson rows;
  for (size_t i = 0; i < damage.size(); ++i) {
    client::Bson row;
    row.Integer("symbol_id", damage[i].chain).Integer("output_seq", damage[i].sequence).Text("what", damage[i].what);
    rows.Document(StrCat(i).c_str(), row);
  }
  json.Array("damage", rows);
}

void AppendTo(client::Bson& json, const VerifyReport& report) {
  json.Bool("ok", report.ok())
      .Integer("symbols", report.chains)
      .Integer("records", report.records)
      .Integer("payload_bytes", report.payload_bytes)
      .Integer("damaged", report.damaged);
  AppendTo(json, report.damage);
}

void PrintText(const VerifyReport& report) {
  std::printf("%lld records of %lld symbols\n", static_cast<long long>(report.records),
              static_cast<long long>(report.chains));
  for (size_t i = 0; i < report.damage.size() && i < kShownMax; ++i) {
    const ChainDamage& damage = report.damage[i];
    std::printf("symbol %lld, output %lld: %s\n", static_cast<long long>(damage.chain),
                static_cast<long long>(damage.sequence), damage.what.c_str());
  }
  if (report.ok()) std::printf("every chain is as it was written\n");
}

Status ToStatus(const VerifyReport& report) {
  if (report.ok()) return {};
  return Status(Code::kRecordDamaged, StrCat(report.damaged, " damaged; --json names ",
                                             report.damage.size() < static_cast<size_t>(report.damaged)
                                                 ? StrCat("the first ", report.damage.size())
                                                 : std::string("all of it")));
}

}  // namespace braid::cli::settlement
