// braid staking delegations and unprocessable: look-ups of stored documents, in pages.
#include "services/staking/lookups.h"
#include "cli/patience.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/strings.h"
#include "cli/common_options.h"
#include "cli/staking/actions.h"
#include "cli/transfer/exporter.h"
#include "cli/transfer/progress.h"
#include "services/staking/json.h"

namespace braid::cli::staking {
namespace {

using braid::staking::DelegationFilter;
using braid::staking::FoundPage;
using braid::staking::MessageFilter;
using braid::staking::PageOptions;
using braid::staking::RetryReport;
using braid::staking::State;
using braid::staking::Tables;

struct LookupArgs {
  Common common;
  PageOptions page;
  TimeRange range;
  bool csv = false;
};

struct DelegationArgs {
  LookupArgs lookup;
  DelegationFilter filter;
  std::string state;
};

struct MessageArgs {
  LookupArgs lookup;
  MessageFilter filter;
  bool retry = false;
};

void AddLookupOptions(CLI::App& app, LookupArgs& args, const char* what) {
  AddCommonOptions(app, args.common);
  AddTimeRange(app, args.range, what);
  app.add_option("--limit", args.page.limit, "Rows of a page.")
      ->check(CLI::Range(1, 10'000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--after", args.page.after, "Continues after a page: its `next`.")->type_name("NEXT");
  app.add_flag("--csv", args.csv, "Comma-separated values with a header line.")->excludes("--json");
}

// The documents as JSON, as CSV or a line each.
void PrintPage(const FoundPage& page, const LookupArgs& args, const std::vector<std::string>& fields) {
  if (args.common.json) {
    client::Bson rows;
    for (size_t i = 0; i < page.rows.size(); ++i) {
      bson_append_document(rows.get(), StrCat(i).c_str(), -1, page.rows[i].get());
    }
    client::Bson json;
    json.Array("rows", rows).Text("next", page.next);
    client::PrintJson(json);
    return;
  }
  std::string text;
  for (size_t i = 0; args.csv && i < fields.size(); ++i) {
    text += StrCat(fields[i], i + 1 < fields.size() ? "," : "\n");
  }
  for (const client::BsonPtr& row : page.rows) {
    if (args.csv) {
      transfer::AppendCsvRow(text, row.get(), fields);
      continue;
    }
    char* json = bson_as_relaxed_extended_json(row.get(), nullptr);
    text += StrCat(json, "\n");
    bson_free(json);
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (!page.next.empty()) transfer::PrintLine(StrCat("next page: --after ", page.next));
}

Status RunDelegations(DelegationArgs& args) {
  if (!args.state.empty()) args.filter.state = args.state == "active" ? State::kActive : State::kUnbonded;
  // A timestamp has whole seconds: one that is in the range is at or after the next whole second.
  const auto seconds = [](std::optional<int64_t> ms) { return ms ? std::optional((*ms + 999) / 1000) : std::nullopt; };
  args.filter.from_s = seconds(args.lookup.range.from_ms);
  args.filter.to_s = seconds(args.lookup.range.to_ms);
  const Patience patience(args.lookup.common.store, {});
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStoreFor(args.lookup.common.store, StoreUse::kRead));
  BRAID_TRY(const std::unique_ptr<Tables> tables, Tables::OpenToRead(*clients, args.lookup.common.options));
  BRAID_TRY(const FoundPage page, FindDelegations(*clients, *tables, args.filter, args.lookup.page));
  PrintPage(page, args.lookup,
            {"_id", "staker_pk_hex", "finality_provider_pk_hex", "staking_value", "state", "timestamp"});
  return {};
}

Status Retry(const MessageArgs& args) {
  const std::atomic<bool>& stop = StopOnInterrupt();
  const Patience patience(args.lookup.common.store, {.stop = &stop, .json = args.lookup.common.json});
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStoreFor(args.lookup.common.store, StoreUse::kExisting));
  BRAID_CHECK_OK(Tables::OpenToRead(*clients, args.lookup.common.options));
  const braid::staking::IngestOptions options{.tables = args.lookup.common.options, .stop = &stop};
  BRAID_TRY(const RetryReport report, RetryMessages(*clients, options, args.filter));
  const uint64_t left = report.tried - report.removed + report.cut;
  if (args.lookup.common.json) {
    client::Bson json;
    json.Integer("tried", static_cast<int64_t>(report.tried))
        .Integer("removed", static_cast<int64_t>(report.removed))
        .Integer("left", static_cast<int64_t>(left))
        .Integer("accepted", static_cast<int64_t>(report.outcome.accepted));
    client::PrintJson(json);
  }
  transfer::PrintLine(StrCat(report.tried, " tried again, ", report.outcome.accepted, " of them accepted; ",
                             report.removed, " are no longer kept"));
  if (left == 0) return {};
  return Status(Code::kOperationFailed, StrCat(left, " are still refused and stay where they are"));
}

Status RunMessages(MessageArgs& args) {
  args.filter.from_ms = args.lookup.range.from_ms;
  args.filter.to_ms = args.lookup.range.to_ms;
  if (args.retry) return Retry(args);
  const Patience patience(args.lookup.common.store, {});
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStoreFor(args.lookup.common.store, StoreUse::kRead));
  BRAID_TRY(const std::unique_ptr<Tables> tables, Tables::OpenToRead(*clients, args.lookup.common.options));
  BRAID_TRY(const FoundPage page, FindMessages(*clients, *tables, args.filter, args.lookup.page));
  PrintPage(page, args.lookup, {"_id", "reason", "file", "line", "received_at", "bytes", "message"});
  return {};
}

}  // namespace

Action SetUpDelegations(CLI::App& app) {
  const auto args = std::make_shared<DelegationArgs>();
  AddLookupOptions(app, args->lookup, "delegations with a timestamp");
  app.add_option("--hash", args->filter.hash, "The one of this staking transaction.")
      ->check([](const std::string& text) { return std::string(braid::staking::CheckTransactionHash(text).message()); })
      ->type_name("HEX");
  app.add_option("--staker", args->filter.staker, "Of this staker, by its public key.")
      ->check(CheckKey)
      ->type_name("HEX");
  app.add_option("--finality-provider", args->filter.finality_provider, "With this finality provider.")
      ->check(CheckKey)
      ->type_name("HEX");
  app.add_option("--state", args->state, "active or unbonded.")->check(CLI::IsMember({"active", "unbonded"}));
  return [args] { return RunDelegations(*args); };
}

Action SetUpUnprocessable(CLI::App& app) {
  const auto args = std::make_shared<MessageArgs>();
  AddLookupOptions(app, args->lookup, "messages that were received");
  app.add_flag("--conflicting", args->filter.conflicting,
               "Events that contradict a known delegation, instead of those that cannot be processed.");
  app.add_option("--reason", args->filter.reason, "Only those with this text in their reason.")->type_name("TEXT");
  app.add_option("--file", args->filter.file, "Only those of this file, as it was given to ingest.")->type_name("FILE");
  app.add_flag("--retry", args->retry, "Processes all that match again, and removes those that are no longer refused.")
      ->excludes("--limit")
      ->excludes("--after")
      ->excludes("--csv");
  return [args] { return RunMessages(*args); };
}

}  // namespace braid::cli::staking
