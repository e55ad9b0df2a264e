#include "cli/settlement/damage.h"

#include <atomic>
#include <cstdio>

#include "base/strings.h"
#include "cli/job_report.h"
#include "cli/settlement/actions.h"
#include "cli/transfer/progress.h"
#include "services/settlement/json.h"

namespace braid::cli::settlement {

Result<VerifyReport> VerifyWithProgress(Chains& chains, VerifyOptions options) {
  std::atomic<int64_t> verified = 0;
  options.on_progress = [&](int64_t records) { verified = records; };
  int64_t total = 0;
  if (options.chains.empty() && options.from_sequence <= 1) {  // of a part it is not known how much it is
    BRAID_TRY(const std::vector<ChainHead> heads, chains.Heads());
    for (const ChainHead& head : heads) total += head.records;
  }
  Pace pace;
  const transfer::Progress line(
      [&] {
        const int64_t done = verified.load();
        const auto share =
            total > 0 ? std::optional(static_cast<double>(done) / static_cast<double>(total)) : std::nullopt;
        return StrCat(done, " records verified, ", pace.ToString(done, share));
      },
      false);
  return chains.Verify(options);
}

void AppendTo(client::Bson& json, const std::vector<ChainDamage>& damage) {
  braid::settlement::AppendDamage(damage, json);
}

void AppendTo(client::Bson& json, const VerifyReport& report) { braid::settlement::AppendVerification(report, json); }

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
