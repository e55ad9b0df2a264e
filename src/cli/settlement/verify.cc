// braid settlement verify: is every chain as it was written? (C5) Verifying with progress, and the report as text and
// JSON, are for other subcommands too.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>

#include "base/strings.h"
#include "cli/common_options.h"
#include "cli/job_report.h"
#include "cli/patience.h"
#include "cli/settlement/actions.h"
#include "cli/transfer/progress.h"
#include "services/settlement/checkpoints.h"
#include "services/settlement/json.h"

namespace braid::cli::settlement {
namespace {

using braid::settlement::CompareWith;

struct VerifyArgs {
  Common common;
  VerifyOptions verify;
  std::string checkpoint;
  std::string public_key;
};

// The signed history; empty without --checkpoint. Compared before the chains are verified, so that a wrong file or key
// is reported at once.
Result<std::vector<ChainDamage>> CompareWithCheckpoint(Chains& chains, const VerifyArgs& args) {
  if (args.checkpoint.empty()) return std::vector<ChainDamage>();
  BRAID_TRY(const PublicKey key, PublicKey::ReadFile(args.public_key));
  BRAID_TRY(const std::string text, ReadFile(args.checkpoint, kTextBytesMax));
  BRAID_TRY(const Checkpoint checkpoint, ParseCheckpoint(text));
  return CompareWith(chains, checkpoint, key);
}

// An unknown symbol would otherwise be reported as verified.
Status ExpectSymbols(Chains& chains, const std::vector<int64_t>& symbols) {
  if (symbols.empty()) return {};
  BRAID_TRY(const std::vector<ChainHead> heads, chains.Heads());
  for (const int64_t symbol : symbols) {
    const bool known = std::any_of(heads.begin(), heads.end(), [&](const auto& head) { return head.chain == symbol; });
    if (!known) return Status(Code::kBadValue, StrCat("the log has no symbol ", symbol));
  }
  return {};
}

Status RunVerify(VerifyArgs& args) {
  const Patience patience(args.common.store, {});
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStoreFor(args.common.store, StoreUse::kRead));
  BRAID_TRY(const std::unique_ptr<Chains> chains, OpenLog(*clients, args.common));
  BRAID_TRY(const std::vector<ChainDamage> changed, CompareWithCheckpoint(*chains, args));
  BRAID_TRY(VerifyReport report, VerifyWithProgress(*chains, args.verify));
  if (report.ok()) BRAID_CHECK_OK(ExpectSymbols(*chains, args.verify.chains));
  report.damaged += static_cast<int64_t>(changed.size());
  report.damage.insert(report.damage.end(), changed.begin(), changed.end());
  if (args.common.json) {
    client::Bson json;
    AppendTo(json, report);
    client::PrintJson(json);
  } else {
    PrintText(report);
  }
  return ToStatus(report);
}

}  // namespace

Action SetUpVerify(CLI::App& app) {
  const auto args = std::make_shared<VerifyArgs>();
  AddCommonOptions(app, args->common);
  app.add_option("--symbol", args->verify.chains, "Only this symbol; may be given several times.")->type_name("S");
  app.add_option("--from", args->verify.from_sequence, "Only outputs from this one on; earlier ones are trusted.")
      ->check(CLI::Range(int64_t{1}, INT64_MAX))
      ->type_name("SEQ");
  app.add_option("-j,--threads", args->verify.threads, "Chains to verify in parallel; 0: one per core.")
      ->check(CLI::Range(0, 256))
      ->type_name("N")
      ->capture_default_str();
  CLI::Option* checkpoint = app.add_option("--checkpoint", args->checkpoint,
                                           "Also compares with this checkpoint, to detect rewritten history.")
                                ->type_name("FILE");
  CLI::Option* key =
      app.add_option("--public-key", args->public_key, "The public key of the signer.")->type_name("FILE");
  checkpoint->needs(key);
  key->needs(checkpoint);
  return [args] { return RunVerify(*args); };
}

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
