// What a run of the storefront cost, and whether what it left behind is right.
#include <functional>
#include <unordered_map>

#include "base/strings.h"
#include "bench/ledger_runs.h"
#include "bench/shop_runs.h"
#include "client/fields.h"
#include "client/handles.h"
#include "services/shop/collections.h"

namespace braid::bench {
namespace {

using client::Bson;
using UnitsByProduct = std::unordered_map<std::string, int64_t>;

Status EachDocument(Clients& clients, const std::string& database, const char* collection, const Bson& filter,
                    const std::function<void(const bson_t&)>& each) {
  const Client client = clients.Acquire();
  const client::CollectionPtr handle = client::CollectionOf(client.get(), database, collection);
  const client::CursorPtr cursor(mongoc_collection_find_with_opts(handle.get(), filter.get(), nullptr, nullptr));
  const bson_t* document = nullptr;
  while (mongoc_cursor_next(cursor.get(), &document)) each(*document);
  bson_error_t error{};
  return mongoc_cursor_error(cursor.get(), &error) ? client::FromError(error) : Status();
}

// Calls `each` for every document of an array.
void EachOf(const bson_t& document, const char* array, const std::function<void(const bson_t&)>& each) {
  bson_iter_t field;
  bson_iter_t element;
  if (!bson_iter_init_find(&field, &document, array) || !bson_iter_recurse(&field, &element)) return;
  while (bson_iter_next(&element)) {
    uint32_t length = 0;
    const uint8_t* bytes = nullptr;
    bson_t part;
    bson_iter_document(&element, &length, &bytes);
    if (bytes != nullptr && bson_init_static(&part, bytes, length)) each(part);
  }
}

// Canceled orders have given their units back.
Result<UnitsByProduct> SoldUnits(Clients& clients, const std::string& database) {
  UnitsByProduct sold;
  Bson canceled;
  canceled.Text("$ne", "canceled");
  Bson filter;
  filter.Document("status", canceled);
  BRAID_CHECK_OK(EachDocument(clients, database, shop::kOrders, filter, [&](const bson_t& order) {
    EachOf(order, "items", [&](const bson_t& item) {
      sold[std::string(client::TextOf(&item, "product_id"))] += client::IntegerOf(&item, "qty");
    });
  }));
  return sold;
}

}  // namespace

Result<StockFigures> VerifyStock(Clients& clients, const std::string& database, int64_t stock) {
  BRAID_TRY(const UnitsByProduct sold, SoldUnits(clients, database));
  StockFigures figures;
  std::string wrong;
  uint64_t wrong_count = 0;
  BRAID_CHECK_OK(EachDocument(clients, database, shop::kProducts, Bson(), [&](const bson_t& product) {
    const std::string id(client::TextOf(&product, "_id"));
    int64_t left = 0;
    bool negative = false;
    EachOf(product, "stock_by_geo", [&](const bson_t& zone) {
      const int64_t qty = client::IntegerOf(&zone, "qty");
      const int64_t reserved = client::IntegerOf(&zone, "reserved");
      left += qty + reserved;
      negative = negative || qty < 0 || reserved < 0;
    });
    const auto found = sold.find(id);
    const int64_t units = found == sold.end() ? 0 : found->second;
    figures.sold += units;
    figures.left += left;
    if (!negative && units + left == stock) return;
    if (wrong_count++ == 0) wrong = StrCat("product ", id, " started with ", stock, ", sold ", units, ", has ", left);
  }));
  if (wrong_count == 0) return figures;
  return Status(Code::kInternalError, StrCat("the stock of ", wrong_count, " products is wrong; first: ", wrong));
}

Result<std::optional<std::vector<ShopRouting>>> ReadRouting(Clients& clients, const std::string& database) {
  Bson command;
  command.Integer("serverStatus", 1);
  BRAID_TRY(const client::BsonPtr reply, client::RunCommand(clients.Acquire().get(), "admin", command.get()));
  bson_iter_t root;
  bson_iter_t found;
  if (!bson_iter_init(&root, reply.get()) ||
      !bson_iter_find_descendant(&root, "shardingStatistics.collections", &found)) {
    return std::optional<std::vector<ShopRouting>>();
  }
  // A document of its own, for EachOf() takes a name without dots.
  Bson holder;
  bson_append_iter(holder.get(), "collections", -1, &found);
  std::vector<ShopRouting> routing;
  const std::string prefix = StrCat(database, ".");
  EachOf(*holder.get(), "collections", [&](const bson_t& one) {
    const std::string_view ns = client::TextOf(&one, "ns");
    if (!ns.starts_with(prefix)) return;
    routing.push_back({.collection = std::string(ns.substr(prefix.size())),
                       .targeted = static_cast<uint64_t>(client::IntegerOf(&one, "targeted")),
                       .scattered = static_cast<uint64_t>(client::IntegerOf(&one, "scattered"))});
  });
  return std::optional(std::move(routing));
}

Result<ShopMeter> ShopMeter::Start(Clients& clients) {
  ShopMeter meter(clients);
  BRAID_TRY(meter.server_micros_, ServerCpuMicros(clients));
  meter.own_micros_ = OwnCpuMicros();
  meter.start_ = std::chrono::steady_clock::now();
  return meter;
}

Status ShopMeter::Finish(uint64_t operations, ShopCost& cost) {
  cost.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const int64_t own = OwnCpuMicros() - own_micros_;
  BRAID_TRY(const std::optional<int64_t> server, ServerCpuMicros(*clients_));
  cost.server_cpu = server.has_value();
  const int64_t micros = own + server.value_or(0) - server_micros_.value_or(0);
  if (operations > 0) cost.cpu_micros = static_cast<double>(micros) / static_cast<double>(operations);
  return {};
}

}  // namespace braid::bench
