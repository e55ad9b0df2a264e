// braid init: creates the collections of the services, or shows where a store differs from what they need.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/strings.h"
#include "braid/embedded.h"
#include "cli/common_options.h"
#include "cli/subcommands.h"
#include "client/handles.h"
#include "services/explorer/collections.h"
#include "services/explorer/explorer.h"
#include "services/schema/schema.h"
#include "services/settlement/service.h"
#include "services/shop/collections.h"
#include "services/shop/shop.h"
#include "services/staking/tables.h"

namespace braid::cli {
namespace {

using schema::Finding;
using schema::State;

struct InitArgs {
  std::vector<std::string> names;
  std::string store = "./data";
  std::string database;
  bool diff = false;
  bool json = false;
};

struct InitService {
  std::string name;
  std::string database;
  std::span<const schema::CollectionSpec> collections;
};

// What was found in a service's database.
struct InitResult {
  std::string database;
  schema::Report report;
};

std::vector<InitService> AllServices() {
  return {{"shop", braid::shop::ShopOptions().database, braid::shop::Collections()},
          {"staking", braid::staking::Options().database, braid::staking::Collections()},
          {"settlement", braid::settlement::Options().database, braid::settlement::Collections()},
          {"explorer", braid::explorer::ExplorerOptions().database, braid::explorer::Collections()}};
}

Result<std::vector<InitService>> ChooseServices(const InitArgs& args) {
  std::vector<InitService> chosen;
  for (const std::string& name : args.names) {
    auto all = AllServices();
    const auto service = std::ranges::find(all, name, &InitService::name);
    if (service == all.end()) {
      return Status(Code::kBadValue, StrCat("there is no service '", name,
                                            "'; the services are shop, staking, settlement and explorer"));
    }
    if (std::ranges::find(chosen, name, &InitService::name) == chosen.end()) chosen.push_back(*service);
  }
  if (chosen.empty()) chosen = AllServices();
  if (args.database.empty()) return chosen;
  if (chosen.size() > 1) {
    return Status(Code::kBadValue,
                  "--db needs the name of one service: each has a database of its own, because some of their "
                  "collections have the same name");
  }
  chosen.front().database = args.database;
  return chosen;
}

// A JSON text as a value; null if it is empty.
void AppendValue(client::Bson& out, const char* key, const std::string& json) {
  bson_iter_t value;
  const auto wrapped = client::ParseJson(StrCat(R"({"v": )", json.empty() ? "null" : json, "}"));
  if (wrapped.ok() && bson_iter_init_find(&value, wrapped->get(), "v")) {
    bson_append_iter(out.get(), key, -1, &value);
  } else {
    out.Text(key, json);
  }
}

// The findings with one of the states, as an array of documents.
void AppendFindings(client::Bson& json, const char* key, std::span<const InitResult> results,
                    std::initializer_list<State> states, bool with_values) {
  client::Bson rows;
  int row_count = 0;
  for (const InitResult& result : results) {
    for (const Finding& finding : result.report.findings) {
      if (std::ranges::find(states, finding.state) == states.end()) continue;
      client::Bson row;
      row.Text("database", result.database).Text("collection", finding.collection).Text("field", finding.field);
      if (with_values) {
        AppendValue(row, "expected", finding.expected);
        AppendValue(row, "found", finding.found);
      }
      if (!finding.note.empty()) row.Text("note", finding.note);
      rows.Document(StrCat(row_count++).c_str(), row);
    }
  }
  json.Array(key, rows);
}

size_t CountAll(std::span<const InitResult> results, State state) {
  size_t count = 0;
  for (const InitResult& result : results) count += result.report.Count(state);
  return count;
}

void PrintInitJson(std::span<const InitResult> results) {
  client::Bson json;
  json.Bool("ok", std::ranges::all_of(results, [](const InitResult& result) { return result.report.ok(); }));
  AppendFindings(json, "created", results, {State::kCreated}, false);
  AppendFindings(json, "differences", results, {State::kMissing, State::kDifferent}, true);
  AppendFindings(json, "skipped", results, {State::kSkipped}, false);
  json.Integer("as_specified", static_cast<int64_t>(CountAll(results, State::kAsSpecified)));
  client::PrintJson(json);
}

std::string Described(const Finding& finding) {
  const auto value = [](const std::string& json) { return json.empty() ? "nothing" : json; };
  switch (finding.state) {
    case State::kAsSpecified: return "as specified";
    case State::kCreated: return "created";
    case State::kMissing: return "missing";
    case State::kSkipped: return StrCat("skipped: ", finding.note);
    case State::kDifferent:
      return finding.note.empty()
                 ? StrCat("different: expected ", value(finding.expected), ", found ", value(finding.found))
                 : StrCat("could not be created: ", finding.note);
  }
  return {};
}

void PrintInitText(std::span<const InitResult> results) {
  for (const InitResult& result : results) {
    for (const Finding& finding : result.report.findings) {
      const std::string thing = finding.field == "collection" ? "" : StrCat(" ", finding.field);
      std::printf("%s.%s%s: %s\n", result.database.c_str(), finding.collection.c_str(), thing.c_str(),
                  Described(finding).c_str());
    }
  }
  std::printf("%zu created, %zu as specified, %zu missing, %zu different, %zu skipped\n",
              CountAll(results, State::kCreated), CountAll(results, State::kAsSpecified),
              CountAll(results, State::kMissing), CountAll(results, State::kDifferent),
              CountAll(results, State::kSkipped));
}

Status RunInit(const InitArgs& args) {
  BRAID_TRY(const std::vector<InitService> services, ChooseServices(args));
  if (args.diff && !IsUri(args.store) && !std::filesystem::exists(args.store)) {
    return Status(Code::kBadValue,
                  StrCat("--store ", args.store, ": there is no such directory, and --diff makes none"));
  }
  BRAID_TRY(const std::unique_ptr<Clients> clients,
            OpenStoreFor(args.store, args.diff ? StoreUse::kRead : StoreUse::kCreate));
  std::vector<InitResult> results;
  for (const InitService& service : services) {
    BRAID_TRY(schema::Report report, args.diff ? schema::Compare(*clients, service.database, service.collections)
                                               : schema::Apply(*clients, service.database, service.collections));
    results.push_back({.database = service.database, .report = std::move(report)});
  }
  args.json ? PrintInitJson(results) : PrintInitText(results);
  const size_t different = CountAll(results, State::kDifferent);
  const size_t missing = CountAll(results, State::kMissing);
  if (different + missing == 0) return {};
  if (args.diff) {
    return Status(Code::kOperationFailed,
                  StrCat(missing, " missing, ", different,
                         " different; nothing was changed. Without --diff, missing ones are created"));
  }
  return Status(Code::kOperationFailed, StrCat(different, " different; these were left unchanged"));
}

}  // namespace

Action SetUpInit(CLI::App& app) {
  const auto args = std::make_shared<InitArgs>();
  app.add_option("NAME", args->names, "shop, staking, settlement, explorer; all of them if none is named.")
      ->type_name("");
  AddStoreOption(app, args->store);
  app.add_option("-d,--db", args->database,
                 "Database, if one service is named. By default it has the name of the service.")
      ->type_name("NAME");
  app.add_flag("--diff", args->diff,
               "Shows what is missing or different and changes nothing; exit code 1 if there is anything.");
  app.add_flag("--json", args->json, "One JSON object on standard output; everything else goes to standard error.");
  return [args] { return RunInit(*args); };
}

}  // namespace braid::cli
