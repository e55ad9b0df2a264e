// The shop's collections: made on every kind of store, and each rule of a validator refuses a document that breaks it.
#include "services/shop/collections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "client/fields.h"
#include "services/schema/testing.h"

namespace braid::shop {
namespace {

using ::testing::IsEmpty;

constexpr char kSomeOrder[] = R"({"order_id": "ORD-1", "user_id": "U1", "created_at": {"$date": "2025-12-31T12:00:00Z"},
    "status": "paid", "geo_zone": "RU-MOW", "total_amount": {"$numberDecimal": "1990.00"}, "currency": "RUB",
    "items": [{"product_id": "P1", "price": {"$numberDecimal": "1990.00"}, "qty": 1}]})";
constexpr char kSomeProduct[] = R"({"_id": "P1", "name": "Phone", "category": "phones", "currency": "RUB",
    "price": {"$numberDecimal": "1990.00"}, "attrs": {"color": "black"}, "updated_at": {"$date": "2025-12-31T12:00:00Z"},
    "stock_by_geo": [{"geo_zone": "RU-MOW", "qty": 50, "reserved": {"$numberLong": "0"}}]})";
constexpr char kSomeCart[] = R"({"owner": "u:U1", "user_id": "U1", "session_id": null, "status": "active",
    "created_at": {"$date": "2035-12-31T12:00:00Z"}, "updated_at": {"$date": "2035-12-31T12:00:00Z"},
    "expires_at": {"$date": "2036-01-01T12:00:00Z"},
    "items": [{"product_id": "P1", "qty": 1, "price": {"$numberDecimal": "1"}, "currency": "RUB"}]})";
constexpr char kSomeSession[] =
    R"({"_id": "S1", "session_id": "S1", "cart_id": 1, "expires_at": {"$date": "2036-01-01T12:00:00Z"}})";
constexpr char kSomeOrderId[] = R"({"_id": "ORD-1", "user_id": "U1", "order": 1})";

const std::map<std::string, std::string>& GoodDocuments() {
  static const std::map<std::string, std::string> documents = {{kOrders, kSomeOrder},
                                                               {kProducts, kSomeProduct},
                                                               {kCarts, kSomeCart},
                                                               {kCartSessions, kSomeSession},
                                                               {kOrderIds, kSomeOrderId}};
  return documents;
}

// The good document of a collection with a part of its text replaced.
struct BrokenRule {
  const char* collection;
  const char* part;
  const char* instead;
};

constexpr BrokenRule kBrokenRules[] = {
    {kOrders, R"("order_id": "ORD-1")", R"("order_id": 7)"},
    {kOrders, R"("order_id": "ORD-1")", R"("order_id": "")"},
    {kOrders, R"("user_id": "U1")", R"("user_id": null)"},
    {kOrders, R"("user_id": "U1")", R"("user_id": "")"},
    {kOrders, R"({"$date": "2025-12-31T12:00:00Z"})", R"("2025-12-31")"},
    {kOrders, R"("status": "paid")", R"("status": "created")"},
    {kOrders, R"("geo_zone": "RU-MOW")", R"("geo_zone": 7)"},
    {kOrders, R"("total_amount": {"$numberDecimal": "1990.00"})", R"("total_amount": 1990.0)"},
    {kOrders, R"("total_amount": {"$numberDecimal": "1990.00"})", R"("total_amount": {"$numberDecimal": "-0.01"})"},
    {kOrders, R"("total_amount": {"$numberDecimal": "1990.00"})", R"("total_amount": {"$numberDecimal": "NaN"})"},
    {kOrders, R"("currency": "RUB")", R"("currency": "rub")"},
    {kOrders, R"("currency": "RUB")", R"("currency": "RUBL")"},
    {kOrders, R"([{"product_id": "P1", "price": {"$numberDecimal": "1990.00"}, "qty": 1}])", "[]"},
    {kOrders, R"([{"product_id": "P1", "price": {"$numberDecimal": "1990.00"}, "qty": 1}])", R"("P1")"},
    {kOrders, R"([{"product_id": "P1", "price": {"$numberDecimal": "1990.00"}, "qty": 1}])", R"(["P1"])"},
    {kOrders, R"("product_id": "P1")", R"("product_id": 1)"},
    {kOrders, R"("product_id": "P1", )", ""},
    {kOrders, R"("price": {"$numberDecimal": "1990.00"}, )", ""},
    {kOrders, R"("price": {"$numberDecimal": "1990.00"})", R"("price": "1990.00")"},
    {kOrders, R"("price": {"$numberDecimal": "1990.00"})", R"("price": {"$numberDecimal": "-1"})"},
    {kOrders, R"(, "qty": 1)", ""},
    {kOrders, R"("qty": 1)", R"("qty": 0)"},
    {kOrders, R"("qty": 1)", R"("qty": 1.5)"},
    {kProducts, R"("_id": "P1")", R"("_id": 1)"},
    {kProducts, R"("name": "Phone")", R"("name": null)"},
    {kProducts, R"("category": "phones")", R"("category": ["phones"])"},
    {kProducts, R"("price": {"$numberDecimal": "1990.00"})", R"("price": 1990)"},
    {kProducts, R"("price": {"$numberDecimal": "1990.00"})", R"("price": {"$numberDecimal": "-1"})"},
    {kProducts, R"("currency": "RUB")", R"("currency": "")"},
    {kProducts, R"("attrs": {"color": "black"})", R"("attrs": "black")"},
    {kProducts, R"({"$date": "2025-12-31T12:00:00Z"})", "0"},
    {kProducts, R"("geo_zone": "RU-MOW", )", ""},
    {kProducts, R"("geo_zone": "RU-MOW")", R"("geo_zone": "")"},
    {kProducts, R"("qty": 50)", R"("qty": -1)"},
    {kProducts, R"("qty": 50)", R"("qty": 50.0)"},
    {kProducts, R"("qty": 50, )", ""},
    {kProducts, R"({"$numberLong": "0"})", R"({"$numberLong": "-1"})"},
    {kProducts, R"([{"geo_zone": "RU-MOW", "qty": 50, "reserved": {"$numberLong": "0"}}])", R"({"RU-MOW": 50})"},
    {kCarts, R"("owner": "u:U1")", R"("owner": "U1")"},
    {kCarts, R"("owner": "u:U1")", R"("owner": "u:")"},
    {kCarts, R"("owner": "u:U1")", R"("owner": "g:U1")"},
    {kCarts, R"("user_id": "U1", "session_id": null)", R"("user_id": null, "session_id": null)"},
    {kCarts, R"("user_id": "U1", "session_id": null)", R"("user_id": "U1", "session_id": "S1")"},
    {kCarts, R"("user_id": "U1", "session_id": null)", R"("user_id": null, "session_id": "S1")"},
    {kCarts, R"("status": "active")", R"("status": "open")"},
    {kCarts, R"("qty": 1)", R"("qty": 0)"},
    {kCarts, R"("qty": 1)", R"("qty": "1")"},
    {kCarts, R"("product_id": "P1")", R"("product_id": "")"},
    {kCarts, R"("price": {"$numberDecimal": "1"})", R"("price": {"$numberDecimal": "-1"})"},
    {kCarts, R"("price": {"$numberDecimal": "1"})", R"("price": 1)"},
    {kCarts, R"("currency": "RUB")", R"("currency": 643)"},
    {kCarts, R"("created_at": {"$date": "2035-12-31T12:00:00Z"})", R"("created_at": 1)"},
    {kCarts, R"("updated_at": {"$date": "2035-12-31T12:00:00Z"})", R"("updated_at": 1)"},
    {kCarts, R"("expires_at": {"$date": "2036-01-01T12:00:00Z"})", R"("expires_at": null)"},
    {kCartSessions, R"("session_id": "S1")", R"("session_id": null)"},
    {kCartSessions, R"({"$date": "2036-01-01T12:00:00Z"})", R"("tomorrow")"},
    {kOrderIds, R"("_id": "ORD-1")", R"("_id": 1)"},
    {kOrderIds, R"("user_id": "U1")", R"("user_id": 1)"},
};

// Fields that a document of the collection cannot be without.
std::vector<std::string> RequiredFields(const schema::CollectionSpec& spec) {
  std::vector<std::string> fields;
  const auto validator = client::ParseJson(spec.validator);
  bson_iter_t top;
  bson_iter_t required;
  bson_iter_t element;
  if (!validator.ok() || !bson_iter_init(&top, validator->get()) ||
      !bson_iter_find_descendant(&top, "$jsonSchema.required", &required) || !bson_iter_recurse(&required, &element)) {
    return fields;
  }
  while (bson_iter_next(&element)) fields.emplace_back(bson_iter_utf8(&element, nullptr));
  return fields;
}

class ShopCollectionsTest : public test::StoreTest {
 protected:
  void SetUp() override { ASSERT_OK(EnsureCollections(store_.clients(), store_.database())); }
  schema::Report Compared() {
    auto report = schema::Compare(store_.clients(), store_.database(), Collections());
    EXPECT_OK(report);
    return report.ok() ? *std::move(report) : schema::Report();
  }
};

TEST_P(ShopCollectionsTest, AreMadeOnce) {
  EXPECT_TRUE(Compared().ok());
  const auto again = schema::Apply(store_.clients(), store_.database(), Collections());
  ASSERT_OK(again);
  EXPECT_THAT(schema::Things(*again, schema::State::kCreated), IsEmpty());
}

TEST_P(ShopCollectionsTest, TakeTheDocumentsOfTheSeed) {
  for (const auto& [collection, document] : GoodDocuments()) {
    EXPECT_OK(schema::InsertJson(store_, collection, document));
  }
}

TEST_P(ShopCollectionsTest, EveryRuleOfAValidatorRefuses) {
  for (const BrokenRule& rule : kBrokenRules) {
    std::string document = GoodDocuments().at(rule.collection);
    const size_t at = document.find(rule.part);
    ASSERT_NE(at, std::string::npos) << rule.part;
    document.replace(at, std::string_view(rule.part).size(), rule.instead);
    EXPECT_EQ(schema::InsertJson(store_, rule.collection, document).code(), Code::kDocumentValidationFailure)
        << document;
  }
}

TEST_P(ShopCollectionsTest, EveryRequiredFieldIsRequired) {
  for (const schema::CollectionSpec& spec : Collections()) {
    const auto good = client::ParseJson(GoodDocuments().at(spec.name));
    ASSERT_OK(good);
    const std::vector<std::string> fields = RequiredFields(spec);
    EXPECT_FALSE(fields.empty()) << spec.name;
    for (const std::string& field : fields) {
      const client::BsonPtr without(bson_new());
      bson_copy_to_excluding_noinit(good->get(), without.get(), field.c_str(), nullptr);
      char* json = bson_as_canonical_extended_json(without.get(), nullptr);
      EXPECT_EQ(schema::InsertJson(store_, spec.name, json).code(), Code::kDocumentValidationFailure)
          << spec.name << " without " << field;
      bson_free(json);
    }
  }
}

TEST_P(ShopCollectionsTest, OneActiveCartPerOwnerAndOneClaimPerSession) {
  ASSERT_OK(schema::InsertJson(store_, kCarts, kSomeCart));
  EXPECT_EQ(schema::InsertJson(store_, kCarts, kSomeCart).code(), Code::kDuplicateKey);
  std::string ordered = kSomeCart;
  ordered.replace(ordered.find("active"), 6, "ordered");
  EXPECT_OK(schema::InsertJson(store_, kCarts, ordered));
  EXPECT_OK(schema::InsertJson(store_, kCarts, ordered));
  ASSERT_OK(schema::InsertJson(store_, kCartSessions, kSomeSession));
  std::string other = kSomeSession;
  other.replace(other.find("S1"), 2, "S2");
  EXPECT_EQ(schema::InsertJson(store_, kCartSessions, other).code(), Code::kDuplicateKey);
}

// A shop that is older or was made by hand: every kind of thing that differs, on the shop's own collections.
TEST_P(ShopCollectionsTest, DifferencesAreNamedAndLeftAlone) {
  ASSERT_OK(schema::RunJson(store_, R"({"dropIndexes": "products", "index": "category_1_price_1"})"));
  ASSERT_OK(
      schema::RunJson(store_, R"({"collMod": "carts", "index": {"name": "expires_at_1", "expireAfterSeconds": 60}})"));
  ASSERT_OK(
      schema::RunJson(store_, R"({"collMod": "order_ids", "validator": {"$jsonSchema": {"required": ["user_id"]}}})"));
  ASSERT_OK(schema::RunJson(store_, R"({"drop": "cart_sessions"})"));
  const schema::Report report = Compared();
  EXPECT_EQ(schema::Things(report, schema::State::kDifferent),
            (std::vector<std::string>{"order_ids validator.$jsonSchema.bsonType",
                                      "order_ids validator.$jsonSchema.properties",
                                      "carts indexes.expires_at_1.expireAfterSeconds"}));
  EXPECT_EQ(schema::Things(report, schema::State::kMissing),
            (std::vector<std::string>{"products indexes.category_1_price_1", "cart_sessions collection",
                                      "cart_sessions validator", "cart_sessions indexes.session_id_hashed",
                                      "cart_sessions indexes.session_id_1", "cart_sessions indexes.expires_at_1",
                                      "cart_sessions shard_key"}));
  ASSERT_OK(EnsureCollections(store_.clients(), store_.database()));
  const schema::Report after = Compared();
  EXPECT_EQ(schema::Things(after, schema::State::kDifferent), schema::Things(report, schema::State::kDifferent));
  EXPECT_THAT(schema::Things(after, schema::State::kMissing), IsEmpty());
}

INSTANTIATE_ON_STORES(ShopCollectionsTest);

}  // namespace
}  // namespace braid::shop
