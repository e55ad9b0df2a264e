// Operations as JSON: what `braid shop do` reads and prints.
#include "services/shop/json.h"

#include "services/shop/testing/fixture.h"

namespace braid::shop::testkit {
namespace {

class ShopOperationsTest : public ShopTest {
 protected:
  client::BsonPtr Do(const std::string& request) {
    const Answer answer = AnswerRequest(*shop_, request);
    EXPECT_OK(answer.store_failure);
    EXPECT_EQ(answer.json.find('\n'), std::string::npos);
    auto parsed = client::ParseJson(answer.json);
    EXPECT_OK(parsed);
    return parsed.ok() ? *std::move(parsed) : client::BsonPtr(bson_new());
  }
  // The field of the answer as text, whatever its type; "?" if it is not there.
  static std::string At(const client::BsonPtr& answer, const char* path) {
    bson_iter_t start;
    bson_iter_t found;
    if (!bson_iter_init(&start, answer.get()) || !bson_iter_find_descendant(&start, path, &found)) return "?";
    if (BSON_ITER_HOLDS_UTF8(&found)) return bson_iter_utf8(&found, nullptr);
    if (BSON_ITER_HOLDS_BOOL(&found)) return bson_iter_bool(&found) ? "true" : "false";
    if (BSON_ITER_HOLDS_NULL(&found)) return "null";
    return StrCat(bson_iter_as_int64(&found));
  }
  std::string Code(const std::string& request) { return At(Do(request), "error.code"); }
};

constexpr const char* kPutPhone =
    R"({"op": "put_product", "product": {"_id": "P1", "name": "Phone", "category": "phones", "price": "199.90",
        "currency": "RUB", "stock_by_geo": [{"geo_zone": "RU-MOW", "qty": 25}], "attrs": {"color": "black"}}})";

TEST_P(ShopOperationsTest, TheExampleOfTheDocumentation) {
  EXPECT_EQ(At(Do(kPutPhone), "ok"), "true");
  EXPECT_EQ(At(Do(R"({"op": "add_to_cart", "session_id": "S1", "product_id": "P1", "qty": 2})"), "result.items.0.qty"),
            "2");
  const auto merge = Do(R"({"op": "merge_carts", "session_id": "S1", "user_id": "U1"})");
  EXPECT_EQ(At(merge, "result.merged"), "true");
  EXPECT_EQ(At(merge, "result.user_id"), "U1");
  EXPECT_EQ(At(merge, "result.session_id"), "null");
  const auto order = Do(R"({"op": "checkout", "user_id": "U1", "geo_zone": "RU-MOW", "idempotency_key": "k1"})");
  EXPECT_EQ(At(order, "result.status"), "paid");
  EXPECT_EQ(At(order, "result.total_amount"), "399.80");
  EXPECT_EQ(At(order, "result.items.0.price"), "199.90");
  const std::string order_id = At(order, "result.order_id");
  const auto card = Do(R"({"op": "card", "product_id": "P1"})");
  EXPECT_EQ(At(card, "result.stock_by_geo.0.qty"), "23");
  EXPECT_EQ(At(card, "result.attrs.color"), "black");
  EXPECT_EQ(At(card, "result.updated_at"), "2096-10-02T07:06:40.000Z");
  const auto history = Do(R"({"op": "history", "user_id": "U1", "limit": 10})");
  EXPECT_EQ(At(history, "result.orders.0.order_id"), order_id);
  EXPECT_EQ(At(history, "result.next"), "null");
  EXPECT_EQ(At(Do(StrCat(R"({"op": "order", "order_id": ")", order_id, "\"}")), "result.user_id"), "U1");
  EXPECT_EQ(
      At(Do(StrCat(R"({"op": "transition", "status": "canceled", "order_id": ")", order_id, "\"}")), "result.status"),
      "canceled");
  EXPECT_EQ(At(Do(R"({"op": "card", "product_id": "P1"})"), "result.stock_by_geo.0.qty"), "25");
  EXPECT_EQ(At(Do(R"({"op": "catalogue", "category": "phones", "price_min": "100", "attrs": {"color": "black"},
                      "sort": "name", "descending": true, "limit": 5, "after": null})"),
               "result.products.0._id"),
            "P1");
}

TEST_P(ShopOperationsTest, OutOfStockHasItsLines) {
  Do(kPutPhone);
  Do(R"({"op": "add_to_cart", "user_id": "U1", "product_id": "P1", "qty": 26})");
  const auto refused = Do(R"({"op": "checkout", "user_id": "U1", "geo_zone": "RU-MOW", "idempotency_key": "k1"})");
  EXPECT_EQ(At(refused, "ok"), "false");
  EXPECT_EQ(At(refused, "error.code"), "out_of_stock");
  EXPECT_EQ(At(refused, "error.lines.0.product_id"), "P1");
  EXPECT_EQ(At(refused, "error.lines.0.wanted"), "26");
  EXPECT_EQ(At(refused, "error.lines.0.available"), "25");
}

TEST_P(ShopOperationsTest, ACardCanBePutBack) {
  Do(kPutPhone);
  Do(R"({"op": "reserve_stock", "product_id": "P1", "geo_zone": "RU-MOW", "qty": 5})");
  const std::string card = AnswerRequest(*shop_, R"({"op": "card", "product_id": "P1"})").json;
  const size_t start = card.find("\"result\"");
  const std::string product = card.substr(card.find('{', start), card.rfind('}') - card.find('{', start));
  EXPECT_EQ(At(Do(StrCat(R"({"op": "put_product", "product": )", product, "}")), "ok"), "true") << product;
  EXPECT_EQ(AnswerRequest(*shop_, R"({"op": "card", "product_id": "P1"})").json, card);
}

TEST_P(ShopOperationsTest, MalformedRequestsAreRefused) {
  Do(kPutPhone);
  const auto before = Everything();
  for (const std::string request :
       {"",
        "{",
        "[]",
        "null",
        "\"op\"",
        "{}",
        R"({"op": 1})",
        R"({"op": "steal"})",
        R"({"op": "card"})",
        R"({"op": "card", "product_id": 1})",
        R"({"op": "card", "product_id": "P1", "colour": "black"})",
        R"({"op": "card", "product_id": "P1", "product_id": "P2"})",
        R"({"op": "card", "product_id": "P1"} {})",
        R"({"op": "put_product"})",
        R"({"op": "put_product", "product": []})",
        R"({"op": "add_to_cart", "user_id": "U1", "product_id": "P1"})",
        R"({"op": "add_to_cart", "user_id": "U1", "session_id": "S1", "product_id": "P1", "qty": 1})",
        R"({"op": "add_to_cart", "user_id": "a\u0000b", "product_id": "P1", "qty": 1})",
        R"({"op": "checkout", "user_id": "U1", "geo_zone": "RU-MOW"})",
        R"({"op": "history"})",
        R"({"op": "add_to_cart", "user_id": "U1", "product_id": "P1", "qty": 99999999999999999999})",
        R"({"op": "history", "user_id": "U1", "limit": "10"})",
        R"({"op": "catalogue", "category": "c", "sort": "x"})",
        R"({"op": "catalogue", "category": "c", "attrs": {"color": ["black"]}})"}) {
    EXPECT_EQ(Code(request), "bad_request") << request;
  }
  EXPECT_EQ(Code(StrCat(R"({"op": "card", "product_id": ")", std::string(2 << 20, 'x'), "\"}")), "bad_request");
  EXPECT_EQ(Code(std::string(5000, '[')), "bad_request");
  for (const char* qty : {"0", "-1", "1.5", "\"1\"", "9999999999", "true"}) {
    EXPECT_EQ(Code(StrCat(R"({"op": "add_to_cart", "user_id": "U1", "product_id": "P1", "qty": )", qty, "}")),
              "bad_quantity")
        << qty;
  }
  for (const std::string& price : {std::string("1.5"), std::string("\"-1\""), std::string("\"1e3\""),
                                   std::string("null"), StrCat("\"", std::string(40, '9'), "\"")}) {
    EXPECT_EQ(Code(StrCat(R"({"op": "put_product", "product": {"_id": "P2", "name": "n", "category": "c", )",
                          R"("currency": "RUB", "price": )", price, "}}")),
              "bad_price")
        << price;
  }
  EXPECT_EQ(Everything(), before);
}

TEST(ShopTouchedTest, NamesWhatKeepsItsOrder) {
  const auto keys = [](std::string_view request) {
    std::string text;
    for (const Touched& one : TouchedBy(request)) text += StrCat(one.key, one.shared ? "? " : " ");
    return text;
  };
  EXPECT_EQ(keys(R"({"op": "merge_carts", "session_id": "S1", "user_id": "U1"})"), "user U1 session S1 ");
  EXPECT_EQ(keys(R"({"op": "add_to_cart", "session_id": "S1", "product_id": "P1", "qty": 1})"),
            "session S1 product P1? ");
  EXPECT_EQ(keys(R"({"op": "history", "user_id": "guest:S1"})"), "session S1 ");
  EXPECT_EQ(keys(R"({"op": "put_product", "product": {"_id": "P1"}})"), "product P1 ");
  EXPECT_EQ(keys(R"({"op": "set_stock", "product_id": "P1"})"), "product P1 ");
  EXPECT_EQ(keys(R"({"op": "transition", "order_id": "O1"})"), "order O1 ");
  EXPECT_EQ(keys("not JSON"), "");
  EXPECT_EQ(keys(R"({"op": "steal", "user_id": "U1"})"), "");
}

INSTANTIATE_ON_STORES(ShopOperationsTest);

}  // namespace
}  // namespace braid::shop::testkit
