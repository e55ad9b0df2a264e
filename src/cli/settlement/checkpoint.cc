// braid settlement keygen and checkpoint: signed statements of where every chain stands (C2, C5).
#include "braid/checkpoint.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/strings.h"
#include "braid/clock.h"
#include "cli/common_options.h"
#include "cli/patience.h"
#include "cli/settlement/actions.h"
#include "cli/transfer/progress.h"
#include "services/settlement/checkpoints.h"
#include "services/settlement/json.h"

namespace braid::cli::settlement {
namespace {

using braid::settlement::KeepCheckpoint;
using braid::settlement::ListCheckpoints;
using braid::settlement::SignHeads;
using braid::settlement::StoredCheckpoint;
using braid::settlement::ToJson;

struct KeygenArgs {
  std::string key = "checkpoint.key";
  std::string public_key = "checkpoint.pub";
  bool json = false;
};

Status Keygen(const KeygenArgs& args) {
  const SigningKey key = SigningKey::Generate();
  BRAID_CHECK_OK(key.WriteFile(args.key));
  BRAID_CHECK_OK(key.public_key().WriteFile(args.public_key));
  if (args.json) {
    client::Bson json;
    json.Text("key_id", key.public_key().Id()).Text("key", args.key).Text("public_key", args.public_key);
    client::PrintJson(json);
  }
  transfer::PrintLine(StrCat("key ", key.public_key().Id(), ": ", args.key, " signs and is secret, ", args.public_key,
                             " verifies and may be published"));
  return {};
}

struct CheckpointArgs {
  Common common;
  std::string key;
  std::string to;
  bool list = false;
};

Status List(Clients& clients, const CheckpointArgs& args) {
  BRAID_TRY(const std::vector<StoredCheckpoint> list, ListCheckpoints(clients, args.common.options.ToChains()));
  if (args.common.json) {
    client::Bson json;
    AppendCheckpoints(list, json);
    client::PrintJson(json);
    return {};
  }
  for (const StoredCheckpoint& one : list) {
    std::printf("%s  up to output %lld, %lld symbols, signed by %s\n", Time(one.created_at_ms).c_str(),
                static_cast<long long>(one.sequence), static_cast<long long>(one.chains), one.key_id.c_str());
  }
  return {};
}

Status Make(Clients& clients, const CheckpointArgs& args) {
  BRAID_TRY(const SigningKey key, SigningKey::ReadFile(args.key));
  const ChainsOptions options = args.common.options.ToChains();
  BRAID_TRY(const std::unique_ptr<Chains> chains, OpenLog(clients, args.common));
  BRAID_TRY(const Checkpoint checkpoint, SignHeads(*chains, key, Clock::System().NowMillis()));
  // The store first: once the checkpoint is durable there, so are the records that the file vouches for, even after a
  // crash.
  const Status kept = KeepCheckpoint(clients, options, checkpoint);
  if (!kept.ok() && kept.code() != Code::kBSONObjectTooLarge) return kept;
  if (!args.to.empty()) BRAID_CHECK_OK(WriteFile(args.to, ToJson(checkpoint) + "\n"));
  BRAID_CHECK_OK(kept);
  const SignedStatement& statement = checkpoint.statement;
  if (args.common.json) {
    client::Bson json;
    json.Integer("created_at_ms", statement.created_at_ms)
        .Integer("output_seq", statement.sequence)
        .Integer("symbols", statement.chain_count)
        .Text("root", Hex({reinterpret_cast<const char*>(statement.root.data()), statement.root.size()}))
        .Text("key_id", statement.key_id)
        .Text("file", args.to);
    client::PrintJson(json);
  }
  transfer::PrintLine(StrCat(
      "signed ", statement.chain_count, " symbols up to output ", statement.sequence,
      args.to.empty() ? "; kept in the store only: --to FILE makes a copy outside the store, which is the proof" : ""));
  return {};
}

Status RunCheckpoint(const CheckpointArgs& args) {
  const Patience patience(args.common.store, {});
  BRAID_TRY(const std::unique_ptr<Clients> clients,
            OpenStoreFor(args.common.store, args.list ? StoreUse::kRead : StoreUse::kExisting));
  return args.list ? List(*clients, args) : Make(*clients, args);
}

}  // namespace

Action SetUpKeygen(CLI::App& app) {
  const auto args = std::make_shared<KeygenArgs>();
  app.add_option("--key", args->key, "New file for the secret key.")->type_name("FILE")->capture_default_str();
  app.add_option("--public-key", args->public_key, "New file for the public key.")
      ->type_name("FILE")
      ->capture_default_str();
  AddJsonOption(app, args->json);
  return [args] { return Keygen(*args); };
}

Action SetUpCheckpoint(CLI::App& app) {
  const auto args = std::make_shared<CheckpointArgs>();
  AddCommonOptions(app, args->common);
  CLI::Option* key = app.add_option("--key", args->key, "The secret key to sign with.")->type_name("FILE");
  app.add_option("--to", args->to, "A copy for outside the store; - is standard output.")
      ->type_name("FILE")
      ->needs(key);
  CLI::Option* list = app.add_flag("--list", args->list, "Lists those of the store, the newest first.")->excludes(key);
  CheckUsage(app, [args, key, list]() -> std::string {
    if (key->count() + list->count() == 0) return "give --key or --list";
    const bool both = args->common.json && args->to == "-";
    return both ? "--json and the checkpoint cannot both go to standard output: give --to FILE" : "";
  });
  return [args] { return RunCheckpoint(*args); };
}

}  // namespace braid::cli::settlement
