// braid settlement prove and check-proof: that an output was in the log when a checkpoint was made (C2).
#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/strings.h"
#include "cli/common_options.h"
#include "cli/patience.h"
#include "cli/settlement/actions.h"
#include "cli/transfer/progress.h"
#include "services/settlement/checkpoints.h"

namespace braid::cli::settlement {
namespace {

using braid::settlement::HashOf;
using braid::settlement::NewestCheckpoint;
using braid::settlement::Prove;
using braid::settlement::ToJson;

struct ProveArgs {
  Common common;
  int64_t symbol = 0;
  int64_t sequence = 0;
  std::string checkpoint;
  std::string to = "-";
};

Result<Checkpoint> CheckpointFor(Clients& clients, const ProveArgs& args) {
  if (!args.checkpoint.empty()) {
    BRAID_TRY(const std::string text, ReadFile(args.checkpoint, kTextBytesMax));
    return ParseCheckpoint(text);
  }
  BRAID_TRY(const std::optional<Checkpoint> newest, NewestCheckpoint(clients, args.common.options.ToChains()));
  if (!newest) return Status(Code::kBadValue, "there is no checkpoint yet: braid settlement checkpoint makes one");
  return *newest;
}

Status RunProve(const ProveArgs& args) {
  const Patience patience(args.common.store, {});
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStoreFor(args.common.store, StoreUse::kRead));
  BRAID_TRY(const Checkpoint checkpoint, CheckpointFor(*clients, args));
  BRAID_TRY(const std::unique_ptr<Chains> chains, OpenLog(*clients, args.common));
  BRAID_TRY(const InclusionProof proof, Prove(*chains, checkpoint, args.symbol, args.sequence));
  const std::string text = ToJson(proof) + "\n";
  BRAID_CHECK_OK(WriteFile(args.to, text));
  if (args.common.json) {
    client::Bson json;
    json.Integer("symbol_id", args.symbol)
        .Integer("output_seq", args.sequence)
        .Integer("record", proof.record_index + 1)
        .Integer("records", proof.records)
        .Integer("bytes", static_cast<int64_t>(text.size()))
        .Integer("checkpoint_output_seq", proof.statement.sequence)
        .Text("file", args.to);
    client::PrintJson(json);
  }
  transfer::PrintLine(StrCat("output ", args.sequence, " of symbol ", args.symbol, " was in the log at ",
                             Time(proof.statement.created_at_ms), ", as record ", proof.record_index + 1, " of ",
                             proof.records, "; the proof has ", text.size(), " bytes"));
  return {};
}

struct CheckArgs {
  std::string proof;
  std::string public_key;
  bool json = false;
};

Status RunCheck(const CheckArgs& args) {
  BRAID_TRY(const PublicKey key, PublicKey::ReadFile(args.public_key));
  BRAID_TRY(const std::string text, ReadFile(args.proof, kTextBytesMax));
  BRAID_TRY(const InclusionProof proof, ParseInclusionProof(text));
  const Status status = VerifyInclusion(proof, key, HashOf);
  if (args.json) {
    client::Bson json;
    json.Bool("ok", status.ok())
        .Integer("symbol_id", proof.record.chain)
        .Integer("output_seq", proof.record.sequence)
        .Integer("record", proof.record_index + 1)
        .Integer("records", proof.records)
        .Text("store", proof.statement.store)
        .Integer("created_at_ms", proof.statement.created_at_ms)
        .Text("key_id", proof.statement.key_id)
        .Text("payload", proof.record.payload);
    client::PrintJson(json);
  }
  BRAID_CHECK_OK(status);
  transfer::PrintLine(StrCat("proven: output ", proof.record.sequence, " of symbol ", proof.record.chain, " was in ",
                             proof.statement.store, " at ", Time(proof.statement.created_at_ms), " as record ",
                             proof.record_index + 1, " of ", proof.records, ", signed by ", proof.statement.key_id));
  if (!args.json) std::printf("%s\n", proof.record.payload.c_str());
  return {};
}

}  // namespace

Action SetUpProve(CLI::App& app) {
  const auto args = std::make_shared<ProveArgs>();
  AddCommonOptions(app, args->common);
  app.add_option("--symbol", args->symbol, "The output's symbol.")->type_name("S")->required();
  app.add_option("--seq", args->sequence, "The output's output_seq.")->type_name("SEQ")->required();
  app.add_option("--checkpoint", args->checkpoint, "Made after the output; by default the newest of the store.")
      ->type_name("FILE");
  app.add_option("--to", args->to, "File for the proof; - is standard output.")
      ->type_name("FILE")
      ->capture_default_str();
  CheckUsage(app, [args] {
    const bool both = args->common.json && args->to == "-";
    return std::string(both ? "--json and the proof cannot both go to standard output: give --to FILE" : "");
  });
  return [args] { return RunProve(*args); };
}

Action SetUpCheckProof(CLI::App& app) {
  const auto args = std::make_shared<CheckArgs>();
  app.add_option("proof", args->proof, "A file written by prove.")->type_name("FILE")->required();
  app.add_option("--public-key", args->public_key, "The public key of the signer.")->type_name("FILE")->required();
  AddJsonOption(app, args->json);
  return [args] { return RunCheck(*args); };
}

}  // namespace braid::cli::settlement
