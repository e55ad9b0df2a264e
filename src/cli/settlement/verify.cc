// braid settlement verify: is every chain as it was written? (C5)
#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/strings.h"
#include "cli/common_options.h"
#include "cli/patience.h"
#include "cli/settlement/actions.h"
#include "cli/settlement/damage.h"
#include "services/settlement/checkpoints.h"

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

}  // namespace braid::cli::settlement
