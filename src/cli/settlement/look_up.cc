// braid settlement balances, trades, orders: look-ups in the views, in pages (C8).
#include <CLI/CLI.hpp>
#include <cstdio>
#include <span>

#include "base/strings.h"
#include "cli/common_options.h"
#include "cli/patience.h"
#include "cli/settlement/actions.h"
#include "cli/transfer/progress.h"
#include "services/settlement/views/look_up.h"

namespace braid::cli::settlement {
namespace {

using braid::settlement::LookUp;
using braid::settlement::LookUpPage;
using braid::settlement::View;
using braid::settlement::ViewColumn;

struct LookUpArgs {
  Common common;
  LookUp look_up;
  TimeRange range;
  bool csv = false;
};

std::string Quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) (quoted += c == '"' ? "\"" : "") += c;
  return quoted + "\"";
}

void PrintRows(const LookUpArgs& args, const LookUpPage& page) {
  const char* const between = args.csv ? "," : "\t";
  const std::span<const ViewColumn> columns = ColumnsOf(args.look_up.view);
  std::string line;
  for (const ViewColumn& column : columns) line += StrCat(line.empty() ? "" : between, column.name);
  std::printf("%s\n", line.c_str());
  for (const client::BsonPtr& document : page.rows) {
    line.clear();
    for (const ViewColumn& column : columns) {
      const std::string value = braid::settlement::ValueText(*document, column.field);
      line += StrCat(&column == columns.data() ? "" : between, args.csv ? Quoted(value) : value);
    }
    std::printf("%s\n", line.c_str());
  }
}

Status RunLookUp(LookUpArgs& args) {
  args.look_up.from_ms = args.range.from_ms;
  args.look_up.to_ms = args.range.to_ms;
  const Patience patience(args.common.store, {});
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStoreFor(args.common.store, StoreUse::kRead));
  BRAID_TRY(const LookUpPage page, ReadRows(*clients, args.common.options.database, args.look_up));
  if (args.common.json) {
    client::Bson json;
    AppendRows(args.look_up.view, page, json);
    client::PrintJson(json);
  } else {
    PrintRows(args, page);
  }
  if (!page.next.empty()) transfer::PrintLine(StrCat("there is more: --after '", page.next, "'"));
  return {};
}

Action SetUpLookUp(CLI::App& app, View view) {
  const auto args = std::make_shared<LookUpArgs>();
  args->look_up.view = view;
  AddCommonOptions(app, args->common);
  app.add_option("--user", args->look_up.user,
                 view == View::kTrades ? "Only trades that this user bought or sold in." : "Only of this user.")
      ->type_name("ID");
  if (view == View::kBalances) app.add_option("--asset", args->look_up.asset, "Only of this asset.")->type_name("NAME");
  if (view == View::kOrders)
    app.add_option("--status", args->look_up.status, "Only with this status.")->type_name("TEXT");
  if (view != View::kBalances) app.add_option("--symbol", args->look_up.symbol, "Only of this symbol.")->type_name("S");
  AddTimeRange(app, args->range,
               view == View::kTrades ? "trades that the log stored" : "rows whose newest output the log stored");
  app.add_option("--limit", args->look_up.limit, "Rows per page.")
      ->check(CLI::Range(1, 100'000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--after", args->look_up.after, "Continues after a page: its `next`.")
      ->check([](const std::string& text) {
        const Status status = braid::settlement::CheckLookUpCursor(text);
        return status.ok() ? std::string() : StrCat("--after ", status.message());
      })
      ->type_name("CURSOR");
  app.add_flag("--csv", args->csv, "Comma-separated values with a header line.")->excludes("--json");
  return [args] { return RunLookUp(*args); };
}

}  // namespace

Action SetUpBalances(CLI::App& app) { return SetUpLookUp(app, View::kBalances); }
Action SetUpTrades(CLI::App& app) { return SetUpLookUp(app, View::kTrades); }
Action SetUpOrders(CLI::App& app) { return SetUpLookUp(app, View::kOrders); }

}  // namespace braid::cli::settlement
