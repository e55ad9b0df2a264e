// The block explorer index over HTTP: the ten queries (D1), reorganisations and the state of the sync.
#include <algorithm>

#include "base/strings.h"
#include "http/api.h"
#include "http/routes.h"
#include "services/explorer/json.h"
#include "services/explorer/source/sync_status.h"

namespace braid::http {
namespace {

using explorer::Explorer;
using explorer::PageRequest;

constexpr int64_t kStreamedRowsOfList = 500;

// A list and its owner.
using AskForPage = Result<explorer::Page> (*)(Explorer& index, const std::string& subject, const PageRequest& page);

Response NoSuch(std::string_view what, const std::string& subject) {
  return ErrorResponse(404, "NotFound", StrCat("there is no ", what, " ", subject));
}

// Every page is read at the epoch of the first one, so the list is of one moment.
Response StreamedList(const std::shared_ptr<Explorer>& index, const std::string& subject, PageRequest request,
                      AskForPage ask) {
  std::string after = std::move(request.after);
  request.limit = kStreamedRowsOfList;
  auto page = [index, subject, request, ask](const std::string& from) mutable -> Result<LinePage> {
    request.after = from;
    BRAID_TRY(const explorer::Page rows, ask(*index, subject, request));
    request.at = rows.at.pivot;
    LinePage lines{.next = rows.next};
    for (const client::BsonPtr& row : rows.rows) lines.lines += client::ToJson(*row) + "\n";
    return lines;
  };
  return LinesResponse(std::move(page), std::move(after));
}

// `what` is what the subject is called where it is not found.
Result<Response> ListResponse(Api& api, const Call& call, const char* rows, std::string_view what,
                              const std::string& subject, AskForPage ask) {
  BRAID_TRY(const std::shared_ptr<Explorer> index, api.Explorer());
  const PageRequest request{
      .at = call.arguments.Text("at"), .after = call.arguments.Text("after"), .limit = call.arguments.Integer("limit")};
  // Also for a list that is streamed: whether it exists is known before its first line.
  BRAID_TRY(const explorer::Page page, ask(*index, subject, request));
  if (!page.found) return NoSuch(what, subject);
  if (call.wants_lines) return StreamedList(index, subject, request, ask);
  client::Bson json;
  AppendPage(rows, page, json);
  return JsonResponse(json);
}

using AskForDocument = Result<explorer::Found> (Explorer::*)(const std::string& hash, const std::string& at);

Result<Response> LookupResponse(Api& api, const Call& call, const char* what, AskForDocument ask) {
  BRAID_TRY(const std::shared_ptr<Explorer> index, api.Explorer());
  const std::string& hash = call.arguments.Text("hash");
  BRAID_TRY(const explorer::Found found, (*index.*ask)(hash, call.arguments.Text("at")));
  if (found.document == nullptr) return NoSuch(what, hash);
  client::Bson json;
  AppendFound(what, found, json);
  return JsonResponse(json);
}

Result<Response> RunBlock(Api& api, const Call& call) { return LookupResponse(api, call, "block", &Explorer::Block); }
Result<Response> RunTransaction(Api& api, const Call& call) {
  return LookupResponse(api, call, "transaction", &Explorer::Transaction);
}

Result<Response> RunBlocks(Api& api, const Call& call) {
  return ListResponse(api, call, "blocks", "", "",
                      [](Explorer& index, const std::string&, const PageRequest& page) { return index.Blocks(page); });
}
Result<Response> RunTransactions(Api& api, const Call& call) {
  return ListResponse(
      api, call, "transactions", "", "",
      [](Explorer& index, const std::string&, const PageRequest& page) { return index.Transactions(page); });
}
Result<Response> RunBlockTransactions(Api& api, const Call& call) {
  return ListResponse(api, call, "transactions", "block", call.arguments.Text("hash"),
                      [](Explorer& index, const std::string& hash, const PageRequest& page) {
                        return index.BlockTransactions(hash, page);
                      });
}
Result<Response> RunAccount(Api& api, const Call& call) {
  return ListResponse(api, call, "transactions", "account", call.arguments.Text("address"),
                      [](Explorer& index, const std::string& address, const PageRequest& page) {
                        return index.AccountTransactions(address, page);
                      });
}
Result<Response> RunMinerBlocks(Api& api, const Call& call) {
  return ListResponse(api, call, "blocks", "miner", call.arguments.Text("address"),
                      [](Explorer& index, const std::string& address, const PageRequest& page) {
                        return index.MinerBlocks(address, page);
                      });
}
Result<Response> RunMiners(Api& api, const Call& call) {
  return ListResponse(api, call, "miners", "", "",
                      [](Explorer& index, const std::string&, const PageRequest& page) { return index.Miners(page); });
}
Result<Response> RunPivots(Api& api, const Call& call) {
  return ListResponse(api, call, "pivots", "", "",
                      [](Explorer& index, const std::string&, const PageRequest& page) { return index.Pivots(page); });
}
Result<Response> RunEpochBlocks(Api& api, const Call& call) {
  return ListResponse(api, call, "blocks", "epoch", call.arguments.Text("number"),
                      [](Explorer& index, const std::string& text, const PageRequest& page) -> Result<explorer::Page> {
                        BRAID_TRY(const int64_t number, explorer::ReadEpochNumber(text));
                        return index.EpochBlocks(number, page);
                      });
}

// The kind of object that a search text names: "block", "transaction", "epoch", "account" or "miner"; empty if it names
// none.
Result<std::string> KindOf(Explorer& index, const std::string& wanted) {
  const PageRequest one{.limit = 1};
  const bool is_hex = wanted.starts_with("0x");
  if (is_hex && wanted.size() == 66) {
    BRAID_TRY(const explorer::Found block, index.Block(wanted, ""));
    if (block.document != nullptr) return "block";
    BRAID_TRY(const explorer::Found transaction, index.Transaction(wanted, ""));
    return transaction.document != nullptr ? "transaction" : "";
  }
  if (is_hex && wanted.size() == 42) {
    BRAID_TRY(const explorer::Page transactions, index.AccountTransactions(wanted, one));
    if (!transactions.rows.empty()) return "account";
    BRAID_TRY(const explorer::Page blocks, index.MinerBlocks(wanted, one));
    return blocks.rows.empty() ? "" : "miner";
  }
  const auto number = explorer::ReadEpochNumber(wanted);
  if (!number.ok()) return "";
  BRAID_TRY(const explorer::Page blocks, index.EpochBlocks(*number, one));
  return blocks.found ? "epoch" : "";
}

Result<Response> RunSearch(Api& api, const Call& call) {
  BRAID_TRY(const std::shared_ptr<Explorer> index, api.Explorer());
  const std::string& wanted = call.arguments.Text("for");
  Result<std::string> kind = KindOf(*index, wanted);
  if (!kind.ok() && kind.error().code() == Code::kBadValue) kind = std::string();
  BRAID_CHECK_OK(kind);
  client::Bson json;
  explorer::AppendOptional("kind", *kind, json);
  return JsonResponse(json);
}

Result<Response> RunLatest(Api& api, const Call& call) {
  BRAID_TRY(const std::shared_ptr<Explorer> index, api.Explorer());
  BRAID_TRY(const explorer::Latest latest, index->LatestBlocks(call.arguments.Text("at")));
  client::Bson json;
  AppendLatest(latest, json);
  return JsonResponse(json);
}

Result<Response> RunReorganisations(Api& api, const Call& call) {
  BRAID_TRY(const std::shared_ptr<Explorer> index, api.Explorer());
  BRAID_TRY(const explorer::ReorganisationsRead read,
            ReadReorganisations(*index, call.arguments.Integer("limit"), call.arguments.Text("after")));
  client::Bson json;
  AppendReorganisations(read, json);
  return JsonResponse(json);
}

Result<Response> RunSyncStatus(Api& api, const Call& /*call*/) {
  BRAID_TRY(const std::shared_ptr<Explorer> index, api.Explorer());
  BRAID_TRY(const explorer::At tip, index->Tip());
  BRAID_TRY(std::optional<explorer::source::SyncFigures> sync,
            explorer::source::LoadSyncFigures(api.clients(), index->options().database));
  double age = 0;
  if (sync) {
    sync->tip = tip;  // others may have changed it since
    age = static_cast<double>(std::max<int64_t>(0, index->options().clock->NowMillis() - sync->updated_ms)) / 1000;
  }
  client::Bson json;
  explorer::source::AppendStatus(tip, sync, age, json);
  return JsonResponse(json);
}

constexpr Parameter kAt = {
    .name = "at",
    .help =
        "The hash of a pivot to read at: the answer is as of its epoch, or an error if it is not in the chain any "
        "more. By default the newest."};
constexpr Parameter kLimit = {.name = "limit",
                              .help = "Rows of the page.",
                              .type = Parameter::Type::kInteger,
                              .fallback = "20",
                              .min = 1,
                              .max = explorer::kRowsMax};
constexpr Parameter kAfter = {.name = "after", .help = "Continue behind a page: its next."};
constexpr Parameter kHash = {.name = "hash", .help = "0x and 64 hexadecimal digits.", .place = Parameter::Place::kPath};
constexpr Parameter kAddress = {
    .name = "address", .help = "0x and 40 hexadecimal digits.", .place = Parameter::Place::kPath};
constexpr Parameter kNumber = {
    .name = "number", .help = "The number of the epoch, as 88087 or 0x15817.", .place = Parameter::Place::kPath};

constexpr Parameter kAtOnly[] = {kAt};
constexpr Parameter kLookupParameters[] = {kHash, kAt};
constexpr Parameter kListParameters[] = {kAt, kLimit, kAfter};
constexpr Parameter kHashListParameters[] = {kHash, kAt, kLimit, kAfter};
constexpr Parameter kAddressListParameters[] = {kAddress, kAt, kLimit, kAfter};
constexpr Parameter kEpochListParameters[] = {kNumber, kAt, kLimit, kAfter};
constexpr Parameter kSearchParameters[] = {
    {.name = "for", .help = "A hash, the number of an epoch or an address.", .required = true}};
constexpr Parameter kReorganisationParameters[] = {kLimit, kAfter};

constexpr std::string_view kExplorer = "explorer";

using ExplorerRun = Result<Response> (*)(Api& api, const Call& call);

constexpr Route OneRoute(std::string_view path, std::string_view summary, std::span<const Parameter> parameters,
                         std::string_view gives, ExplorerRun run) {
  return {.method = "GET",
          .path = path,
          .group = kExplorer,
          .summary = summary,
          .parameters = parameters,
          .gives = gives,
          .run = run,
          .cacheable = true};
}
constexpr Route ListRoute(std::string_view path, std::string_view summary, std::span<const Parameter> parameters,
                          std::string_view gives, ExplorerRun run) {
  Route route = OneRoute(path, summary, parameters, gives, run);
  route.gives_lines = true;
  return route;
}

constexpr Route kExplorerRoutes[] = {
    ListRoute("/v1/blocks", "Blocks in execution order, newest first.", kListParameters, "BlockPage", RunBlocks),
    OneRoute("/v1/blocks/{hash}", "A block.", kLookupParameters, "BlockAnswer", RunBlock),
    ListRoute("/v1/blocks/{hash}/transactions", "The transactions of a block, in order.", kHashListParameters,
              "TransactionPage", RunBlockTransactions),
    ListRoute("/v1/transactions", "Transactions in execution order, newest first.", kListParameters, "TransactionPage",
              RunTransactions),
    OneRoute("/v1/transactions/{hash}", "A transaction, with its receipt once it is known.", kLookupParameters,
             "TransactionAnswer", RunTransaction),
    ListRoute("/v1/accounts/{address}/transactions", "The transactions of an account, newest first.",
              kAddressListParameters, "TransactionPage", RunAccount),
    ListRoute("/v1/miners", "Every miner with its first block, by address.", kListParameters, "MinerPage", RunMiners),
    ListRoute("/v1/miners/{address}/blocks", "The blocks of a miner, newest first.", kAddressListParameters,
              "BlockPage", RunMinerBlocks),
    ListRoute("/v1/epochs/{number}/blocks", "The blocks of an epoch, in execution order.", kEpochListParameters,
              "BlockPage", RunEpochBlocks),
    ListRoute("/v1/pivots", "The pivot chain, newest first.", kListParameters, "PivotPage", RunPivots),
    OneRoute("/v1/latest", "Difficulty, transactions and transactions per second of the newest blocks.", kAtOnly,
             "Latest", RunLatest),
    OneRoute("/v1/reorgs", "When the chain was reorganised, newest first.", kReorganisationParameters,
             "ReorganisationPage", RunReorganisations),
    OneRoute("/v1/search", "What a hash, a number or an address is the name of.", kSearchParameters, "SearchAnswer",
             RunSearch),
    OneRoute("/v1/status", "The tip, and how far and how fast the last sync was.", {}, "SyncStatus", RunSyncStatus),
};

#define BRAID_PAGE(name, item)                                                             \
  R"({"type": "object", "required": [")" name R"(", "next", "at"], "properties": {")" name \
  R"(": {"type": "array", "items": )" item R"(}, "next": {"type": ["string", "null"],)"    \
  R"( "description": "To be given as after for the next page; null if there is none."},)"  \
  R"( "at": {"$ref": "#/components/schemas/At"}}})"
#define BRAID_ANSWER(name)                                                                      \
  R"({"type": "object", "required": [")" name R"(", "at"], "properties": {")" name              \
  R"(": {"type": "object", "required": ["hash"], "properties": {"hash": {"type": "string"}}},)" \
  R"( "at": {"$ref": "#/components/schemas/At"}}})"
#define BRAID_HASHED R"({"type": "object", "required": ["hash"], "properties": {"hash": {"type": "string"}}})"

constexpr Schema kExplorerSchemas[] = {
    {"At",
     R"({"type": "object", "required": ["epoch", "pivot"], "description": "The newest epoch that the answer knows.",
      "properties": {"epoch": {"type": ["integer", "null"]}, "pivot": {"type": ["string", "null"]}}})"},
    {"BlockPage", BRAID_PAGE("blocks", BRAID_HASHED)},
    {"TransactionPage", BRAID_PAGE("transactions", BRAID_HASHED)},
    {"MinerPage", BRAID_PAGE("miners", R"({"type": "object", "required": ["miner", "block", "score"],
      "properties": {"miner": {"type": "string"}, "block": {"type": "string"}, "score": {"type": "integer"}}})")},
    {"PivotPage", BRAID_PAGE("pivots", R"({"type": "object", "required": ["epoch", "hash"],
      "properties": {"epoch": {"type": "integer"}, "hash": {"type": "string"}}})")},
    {"BlockAnswer", BRAID_ANSWER("block")},
    {"TransactionAnswer", BRAID_ANSWER("transaction")},
    {"Latest",
     R"({"type": "object", "required": ["blocks", "difficulty", "transactions", "seconds", "tps", "at"],
      "properties": {"blocks": {"type": "integer"}, "difficulty": {"type": "string", "description": "In decimal."},
      "transactions": {"type": "integer"}, "seconds": {"type": "integer"}, "tps": {"type": "number"},
      "at": {"$ref": "#/components/schemas/At"}}})"},
    {"ReorganisationPage", BRAID_PAGE("reorgs", R"({"type": "object",
      "required": ["time", "depth", "fork", "old", "new"], "properties": {"time": {"type": "string"},
      "depth": {"type": "integer"}, "fork": {"type": "integer"}, "old": {"$ref": "#/components/schemas/At"},
      "new": {"$ref": "#/components/schemas/At"}}})")},
    {"SearchAnswer",
     R"({"type": "object", "required": ["kind"], "properties": {"kind": {
      "enum": ["block", "transaction", "epoch", "account", "miner", null]}}})"},
    {"SyncStatus",
     R"({"type": "object", "required": ["lag", "epochsPerSecond", "transactionsPerSecond", "sync", "at"],
      "properties": {"lag": {"type": ["integer", "null"]}, "epochsPerSecond": {"type": ["number", "null"]},
      "transactionsPerSecond": {"type": ["number", "null"]}, "sync": {"type": ["object", "null"]},
      "at": {"$ref": "#/components/schemas/At"}}})"},
};
#undef BRAID_PAGE
#undef BRAID_ANSWER
#undef BRAID_HASHED

}  // namespace

std::span<const Route> ExplorerRoutes() { return kExplorerRoutes; }
std::span<const Schema> ExplorerSchemas() { return kExplorerSchemas; }

}  // namespace braid::http
