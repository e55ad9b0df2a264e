// The four services at a glance, for a sample.
#include "http/live_sample.h"

#include <algorithm>

#include "base/strings.h"
#include "client/handles.h"
#include "http/api.h"
#include "services/explorer/json.h"
#include "services/shop/collections.h"
#include "services/staking/queries.h"

namespace braid::http {
namespace {

std::string StakingGlance(Api& api) {
  const auto tables = api.StakingTables();
  if (!tables.ok()) return "null";
  const auto overall = GetOverallStats(api.clients(), **tables);
  if (!overall.ok()) return "null";
  client::Bson json;
  for (const char* field : staking::kFieldNames) json.Integer(field, overall->sums[field]);
  json.Integer("pending_events", overall->pending_events)
      .Integer("unprocessable_messages", overall->unprocessable_messages)
      .Integer("conflicting_events", overall->conflicting_events);
  return client::ToJson(json);
}

std::string ExplorerGlance(Api& api) {
  const auto index = api.Explorer();
  if (!index.ok()) return "null";
  const auto latest = (*index)->LatestBlocks("");
  if (!latest.ok()) return "null";
  client::Bson json;
  json.Integer("epoch", latest->at.epoch)
      .Text("pivot", latest->at.pivot)
      .Integer("transactions", latest->transactions)
      .Double("tps", latest->tps);
  const auto reorganisations = explorer::ReadReorganisations(**index, 1, "");
  if (reorganisations.ok() && !reorganisations->page.reorganisations.empty()) {
    const Reorganisation& newest = reorganisations->page.reorganisations.front();
    json.Integer("reorganised_ms", newest.time_ms).Integer("reorganised_depth", newest.depth);
  }
  return client::ToJson(json);
}

std::string SettlementGlance(Api& api) {
  const auto log = api.SettlementLog();
  if (!log.ok()) return "null";
  const auto heads = (*log)->Heads();
  if (!heads.ok()) return "null";
  int64_t records = 0;
  for (const ChainHead& head : *heads) records += head.records;
  const auto halted = std::ranges::count_if(*heads, [](const ChainHead& head) { return !head.halted.empty(); });
  client::Bson json;
  json.Integer("chains", static_cast<int64_t>(heads->size())).Integer("records", records).Integer("halted", halted);
  return client::ToJson(json);
}

int64_t CountOf(mongoc_client_t* client, const std::string& database, const char* collection) {
  const client::CollectionPtr handle = client::CollectionOf(client, database, collection);
  bson_error_t error{};
  return std::max<int64_t>(0,
                           mongoc_collection_estimated_document_count(handle.get(), nullptr, nullptr, nullptr, &error));
}

std::string ShopGlance(Api& api) {
  const auto shop = api.Shop(false);
  if (!shop.ok()) return "null";
  const std::string database = shop::ShopOptions().database;
  const Client client = api.clients().Acquire();
  client::Bson json;
  json.Integer("orders", CountOf(client.get(), database, shop::kOrders))
      .Integer("products", CountOf(client.get(), database, shop::kProducts))
      .Integer("carts", CountOf(client.get(), database, shop::kCarts));
  return client::ToJson(json);
}

}  // namespace

std::string LiveServices(Api& api) {
  return StrCat(R"({"staking": )", StakingGlance(api), R"(, "shop": )", ShopGlance(api), R"(, "settlement": )",
                SettlementGlance(api), R"(, "explorer": )", ExplorerGlance(api), "}");
}

}  // namespace braid::http
