// Results as JSON.
#include "services/shop/json.h"

#include "base/strings.h"
#include "services/shop/documents.h"

namespace braid::shop {
namespace {

using client::Bson;

void AppendTime(const char* key, int64_t millis, Bson& out) { out.Text(key, UtcText(millis)); }

// Null if there is none.
void AppendOptional(const char* key, const std::string& text, Bson& out) {
  if (text.empty()) {
    BSON_APPEND_NULL(out.get(), key);
  } else {
    out.Text(key, text);
  }
}

void AppendResult(const ZoneStock& stock, Bson& out) {
  out.Text("geo_zone", stock.geo_zone).Integer("qty", stock.qty).Integer("reserved", stock.reserved);
}

void AppendResult(const CartLine& line, Bson& out) {
  out.Text("product_id", line.product_id)
      .Text("name", line.name)
      .Integer("qty", line.qty)
      .Text("price", line.price.ToString())
      .Text("currency", line.currency);
}

void AppendResult(const OrderLine& line, Bson& out) {
  out.Text("product_id", line.product_id).Text("price", line.price.ToString()).Integer("qty", line.qty);
}

void AppendResult(const MergeNote& note, Bson& out) {
  out.Text("product_id", note.product_id)
      .Integer("wanted", note.wanted)
      .Integer("kept", note.kept)
      .Text("reason", note.reason)
      .Text("message", note.message);
}

void AppendResult(const ShortLine& line, Bson& out) {
  out.Text("product_id", line.product_id).Integer("wanted", line.wanted).Integer("available", line.available);
}

template <typename Row>
void AppendRows(const char* key, const std::vector<Row>& rows, Bson& out) {
  Bson array;
  for (size_t i = 0; i < rows.size(); ++i) {
    Bson row;
    AppendResult(rows[i], row);
    array.Document(StrCat(i).c_str(), row);
  }
  out.Array(key, array);
}

std::string JsonText(const Bson& document) {
  char* text = bson_as_relaxed_extended_json(document.get(), nullptr);
  std::string json = text == nullptr ? "" : text;
  bson_free(text);
  return json;
}

void AppendError(std::string_view code, std::string_view message, const std::vector<ShortLine>& lines, Bson& out) {
  Bson error;
  error.Text("code", code).Text("message", message);
  if (!lines.empty()) AppendRows("lines", lines, error);
  out.Document("error", error);
}

std::string ErrorJson(std::string_view code, std::string_view message, const std::vector<ShortLine>& lines) {
  Bson json;
  json.Bool("ok", false);
  AppendError(code, message, lines, json);
  return JsonText(json);
}

}  // namespace

void AppendResult(const Product& product, Bson& out) {
  out.Text("_id", product.id)
      .Text("name", product.name)
      .Text("category", product.category)
      .Text("price", product.price.ToString());
  AppendOptional("currency", product.currency, out);
  AppendRows("stock_by_geo", product.stock_by_geo, out);
  Bson attrs;
  for (const auto& [name, value] : product.attrs) AppendAttr(attrs, name.c_str(), value);
  out.Document("attrs", attrs);
  AppendTime("updated_at", product.updated_at, out);
}

void AppendResult(const CataloguePage& page, Bson& out) {
  AppendRows("products", page.products, out);
  AppendOptional("next", page.next, out);
}

void AppendResult(const Cart& cart, Bson& out) {
  AppendOptional("_id", cart.id, out);
  AppendOptional("user_id", cart.owner.user_id, out);
  AppendOptional("session_id", cart.owner.session_id, out);
  out.Text("status", cart.status);
  AppendRows("items", cart.lines, out);
  out.Text("total_amount", cart.total_amount.ToString());
  AppendOptional("currency", cart.currency, out);
  AppendTime("created_at", cart.created_at, out);
  AppendTime("updated_at", cart.updated_at, out);
  AppendTime("expires_at", cart.expires_at, out);
}

void AppendResult(const Merge& merge, Bson& out) {
  AppendResult(merge.cart, out);
  out.Bool("merged", merge.merged);
  AppendRows("messages", merge.notes, out);
}

void AppendResult(const Order& order, Bson& out) {
  out.Text("_id", order.id).Text("order_id", order.order_id).Text("user_id", order.user_id);
  AppendTime("created_at", order.created_at, out);
  out.Text("status", order.status).Text("geo_zone", order.geo_zone);
  AppendRows("items", order.items, out);
  out.Text("total_amount", order.total_amount.ToString()).Text("currency", order.currency);
}

void AppendResult(const HistoryPage& page, Bson& out) {
  AppendRows("orders", page.orders, out);
  AppendOptional("next", page.next, out);
}

std::string SuccessJson(const Bson& result) {
  Bson json;
  json.Bool("ok", true).Document("result", result);
  std::string text = JsonText(json);
  return text.empty() ? ErrorJson("store_error", "the stored documents are not UTF-8", {}) : text;
}

std::string RefusalJson(const Refusal& refusal) {
  Bson json;
  AppendError(NameOf(refusal.code), refusal.message, refusal.lines, json);
  return JsonText(json);
}

std::string FailureJson(const Status& status) {
  const std::optional<Refusal> refusal = RefusalOf(status);
  if (!refusal) return ErrorJson("store_error", status.ToString(), {});
  return ErrorJson(NameOf(refusal->code), refusal->message, refusal->lines);
}

}  // namespace braid::shop
