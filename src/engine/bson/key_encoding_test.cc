#include "engine/bson/key_encoding.h"

#include <cmath>

#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/bson/collation.h"
#include "engine/bson/compare.h"
#include "engine/bson/json.h"
#include "engine/bson/testing/random_value.h"

namespace braid::bson {
namespace {

int Sign(int order) { return (order > 0) - (order < 0); }

std::string Key(const Value& value, bool descending = false, const Collation* collation = nullptr) {
  std::string key;
  AppendKey(&key, value, descending, collation);
  return key;
}
std::string KeyOf(const char* json) { return Key(J(json).Find("v")); }

std::string Show(const OwnedValue& value) { return StrCat(ToShell(value.value()), " ", Hex(Key(value))); }

/// Key order is Compare order both ways, for all pairs of values; each key is stepped over exactly.
void CheckOrder(const std::vector<OwnedValue>& values, const Collation* collation) {
  std::vector<std::string> up, down;
  for (const OwnedValue& value : values) {
    up.push_back(Key(value, false, collation));
    down.push_back(Key(value, true, collation));
    ASSERT_EQ(KeySize(up.back() + "rest"), up.back().size()) << Show(value);
    ASSERT_EQ(KeySize(down.back() + "rest", true), down.back().size()) << Show(value);
    for (const std::string& key : {up.back(), down.back()}) {
      ASSERT_LT(std::string(1, kBelowAll), key) << Show(value);
      ASSERT_GT(std::string(1, kAboveAll), key) << Show(value);
      ASSERT_NE(key[0], kBelowAll) << Show(value);
    }
  }
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t k = 0; k < values.size(); ++k) {
      const int order = Sign(Compare(values[i].value(), values[k].value(), collation));
      ASSERT_EQ(order, Sign(up[i].compare(up[k]))) << Show(values[i]) << "\n" << Show(values[k]);
      ASSERT_EQ(-order, Sign(down[i].compare(down[k]))) << Show(values[i]) << "\n" << Show(values[k]);
      if (order == 0) continue;
      ASSERT_FALSE(up[k].starts_with(up[i])) << Show(values[i]) << "\n" << Show(values[k]);
    }
  }
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (up[i] != up[k]) continue;
      ASSERT_EQ(HashOf(values[i].value(), collation), HashOf(values[k].value(), collation)) << Show(values[i]) << "\n"
                                                                                            << Show(values[k]);
    }
  }
}

TEST(KeyEncodingTest, OrderOfNumbersIsThatOfCompare) {
  Random random(test::Seed());
  RandomValue make(random);
  for (int round = 0; round < 5; ++round) {
    std::vector<OwnedValue> values;
    for (int i = 0; i < 400; ++i) values.push_back(make.Number());
    CheckOrder(values, nullptr);
  }
}

TEST(KeyEncodingTest, OrderOfAllTypesIsThatOfCompare) {
  Random random(test::Seed());
  RandomValue make(random);
  for (int round = 0; round < 5; ++round) {
    std::vector<OwnedValue> values;
    for (int i = 0; i < 300; ++i) values.push_back(make.Any());
    values.emplace_back();  // missing
    CheckOrder(values, nullptr);
  }
}

TEST(KeyEncodingTest, OrderUnderCollationIsThatOfCompare) {
  Random random(test::Seed());
  RandomValue make(random);
  for (const char* spec : {"{'locale': 'en', 'strength': 2}", "{'locale': 'de', 'numericOrdering': true}",
                           "{'locale': 'fr', 'alternate': 'shifted', 'strength': 1, 'caseLevel': true}"}) {
    const auto collation = *Collation::Parse(J(spec));
    std::vector<OwnedValue> values;
    for (int i = 0; i < 200; ++i) values.push_back(make.String());
    for (int i = 0; i < 150; ++i) values.push_back(make.Any());
    CheckOrder(values, collation.get());
  }
}

TEST(KeyEncodingTest, CompoundKeysOrderFieldByField) {
  Random random(test::Seed());
  RandomValue make(random);
  struct Row {
    OwnedValue a, b;
    std::string key;
  };
  std::vector<Row> rows;
  for (int i = 0; i < 250; ++i) {
    Row row{i % 3 == 0 || rows.empty() ? make.Any(1) : rows[random.Below(rows.size())].a, make.Any(1), {}};
    AppendKey(&row.key, row.a, true);
    AppendKey(&row.key, row.b, false);
    ASSERT_EQ(KeySize(std::string_view(row.key).substr(KeySize(row.key, true))), Key(row.b).size());
    rows.push_back(std::move(row));
  }
  for (const Row& x : rows) {
    for (const Row& y : rows) {
      const int first = -Sign(Compare(x.a.value(), y.a.value()));
      const int order = first != 0 ? first : Sign(Compare(x.b.value(), y.b.value()));
      ASSERT_EQ(order, Sign(x.key.compare(y.key))) << Show(x.a) << Show(x.b) << "\n" << Show(y.a) << Show(y.b);
    }
  }
}

TEST(KeyEncodingTest, EqualNumbersOfAllTypesAreOneKey) {
  const std::string one = KeyOf("{'v': 1}");
  EXPECT_EQ(one.size(), 2u);
  EXPECT_EQ(KeyOf("{'v': 1.0}"), one);
  EXPECT_EQ(KeyOf("{'v': {'$numberLong': '1'}}"), one);
  EXPECT_EQ(KeyOf("{'v': {'$numberDecimal': '1.000'}}"), one);
  EXPECT_EQ(KeyOf("{'v': {'$numberDecimal': '0.5'}}"), KeyOf("{'v': 0.5}"));
  EXPECT_EQ(KeyOf("{'v': {'$numberDecimal': '-0'}}"), KeyOf("{'v': -0.0}"));
  EXPECT_NE(KeyOf("{'v': {'$numberDecimal': '0.1'}}"), KeyOf("{'v': 0.1}"));
}

TEST(KeyEncodingTest, CommonNumbersAreShort) {
  EXPECT_EQ(Key(Make("v", 100).Find("v")).size(), 2u);
  EXPECT_LE(Key(Make("v", 1'000'000).Find("v")).size(), 4u);
  for (const double v : {0.1, -0.1, 3.14159, 1e300, 5e-324, 123456.789, -1e18}) {
    EXPECT_LE(Key(Make("v", v).Find("v")).size(), 9u) << v;
  }
  EXPECT_LE(Key(Make("v", std::numeric_limits<int64_t>::max()).Find("v")).size(), 9u);
  EXPECT_LE(KeyOf("{'v': {'$numberDecimal': '0.1'}}").size(), 26u);
}

}  // namespace
}  // namespace braid::bson
