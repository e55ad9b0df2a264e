#include "engine/language/match/sort_pattern.h"

#include <algorithm>

#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/bson/compare.h"
#include "engine/bson/json.h"
#include "engine/language/match/match_testing.h"

namespace braid::query {

namespace {

struct OrderCase {
  const char* sort;
  std::vector<const char*> documents;  // in order, each strictly before the next
};

const std::vector<OrderCase>& Orders() {
  static const std::vector<OrderCase> kOrders = {
      {"{'a': 1}",
       {"{'a': {'$minKey': 1}}", "{'a': []}", "{}", "{'a': {'$numberDouble': 'NaN'}}", "{'a': 1}", "{'a': [9, 2]}",
        "{'a': 'x'}", "{'a': {}}", "{'a': [[]]}", "{'a': true}", "{'a': {'$maxKey': 1}}"}},
      {"{'a': -1}", {"{'a': 'x'}", "{'a': [9, 2]}", "{'a': 3}", "{'a': [1, 2]}", "{'a': null}", "{'a': []}"}},
      {"{'a': 1, 'b': -1}", {"{'a': 1, 'b': 2}", "{'a': 1, 'b': 1}", "{'a': 1}", "{'a': 2, 'b': 9}"}},
      {"{'a.b': 1, 'a.c': -1}", {"{'a': [{'b': 1, 'c': 5}, {'b': 2, 'c': 9}]}", "{'a': {'b': 1, 'c': 4}}"}},
      {"{'a.b': 1}", {"{'a': [{'b': 5}, 1]}", "{'a': {'b': 0}}"}},
  };
  return kOrders;
}

std::string KeyOf(const SortPattern& pattern, bson::View document) {
  std::string key;
  EXPECT_OK(pattern.AppendSortKey(document, &key));
  return key;
}

}  // namespace

TEST(SortPatternTest, Order) {
  for (const OrderCase& c : Orders()) {
    auto pattern = SortPattern::Parse(bson::J(c.sort), nullptr);
    ASSERT_OK(pattern);
    for (size_t i = 1; i < c.documents.size(); ++i) {
      EXPECT_LT(KeyOf(*pattern, bson::J(c.documents[i - 1])), KeyOf(*pattern, bson::J(c.documents[i])))
          << c.sort << ": " << c.documents[i - 1] << " before " << c.documents[i];
    }
  }
}

TEST(SortPatternTest, ParseErrors) {
  const std::pair<const char*, int> kErrors[] = {
      {"{'a': 2}", 15975},        {"{'a': 0}", 15975}, {"{'a': 'x'}", 15974}, {"{'a': {'$meta': 'textScore'}}", 2},
      {"{'a': {'b': 1}}", 17312}, {"{'': 1}", 40352},  {"{'a.': 1}", 40353},  {"{'a..b': 1}", 15998},
      {"{'$a': 1}", 16410},
  };
  for (const auto& [sort, code] : kErrors) {
    EXPECT_EQ(static_cast<int>(SortPattern::Parse(bson::J(sort), nullptr).status().code()), code) << sort;
  }
  std::string many = "{";
  for (int i = 0; i < 33; ++i) many += StrCat(i == 0 ? "" : ", ", "'f", i, "': 1");
  EXPECT_EQ(SortPattern::Parse(bson::J(many + "}"), nullptr).status().code(), Code::kBadValue);
  EXPECT_OK(
      SortPattern::Parse(bson::J("{'a': 1.0, 'b': {'$numberLong': '-1'}, 'c': {'$numberDecimal': '1'}}"), nullptr));
}

TEST(SortPatternTest, DocumentErrors) {
  std::string key;
  auto pattern = SortPattern::Parse(bson::J("{'a': 1, 'b.0': 1}"), nullptr);
  ASSERT_OK(pattern);
  EXPECT_EQ(pattern->AppendSortKey(bson::J("{'a': [1], 'b': [2]}"), &key).code(), Code::kBadValue);
  EXPECT_EQ(pattern->AppendSortKey(bson::J("{'a': 1, 'b': [{'0': 2}]}"), &key).code(), Location(16746));
  EXPECT_TRUE(key.empty());
}

TEST(SortPatternTest, Collation) {
  auto collation = bson::Collation::Parse(bson::J("{'locale': 'en', 'strength': 2}"));
  ASSERT_OK(collation);
  auto pattern = SortPattern::Parse(bson::J("{'a': 1}"), *collation);
  ASSERT_OK(pattern);
  EXPECT_EQ(KeyOf(*pattern, bson::J("{'a': 'ABC'}")), KeyOf(*pattern, bson::J("{'a': 'abc'}")));
  EXPECT_LT(KeyOf(*pattern, bson::J("{'a': ['z', 'B']}")), KeyOf(*pattern, bson::J("{'a': 'c'}")));
}

// The order of the encoded keys is the order of the compound keys, taken apart and compared value by value.
TEST(SortPatternTest, KeysOrderAsTheirValuesDo) {
  Random random(test::Seed());
  auto pattern = SortPattern::Parse(bson::J("{'a': 1, 'b': -1, 'a.b': 1}"), nullptr);
  ASSERT_OK(pattern);
  const std::vector<std::string_view> paths = {"a", "b", "a.b"};
  const KeyPaths key_paths(paths);
  const bson::Document null = bson::J("{'n': null}");
  const auto compare = [&](const std::vector<bson::Value>& a, const std::vector<bson::Value>& b) {
    for (size_t i = 0; i < a.size(); ++i) {
      const int order = bson::Compare(a[i], b[i]);
      if (order != 0) return i == 1 ? -order : order;
    }
    return 0;
  };
  const auto least = [&](bson::View document) {
    std::vector<bson::Value> best;
    key_paths
        .ForEachKey(document,
                    [&](KeyPaths::Key key) {
                      std::vector<bson::Value> values(key.begin(), key.end());
                      for (bson::Value& value : values) value = value.missing() ? null.Find("n") : value;
                      if (best.empty() || compare(values, best) < 0) best = values;
                    })
        .Ignore("parallel arrays are skipped below");
    return best;
  };
  int compared = 0;
  for (int i = 0; i < 3000; ++i) {
    const bson::Document a = RandomDocument(random);
    const bson::Document b = RandomDocument(random);
    std::string key_a;
    std::string key_b;
    if (!pattern->AppendSortKey(a, &key_a).ok() || !pattern->AppendSortKey(b, &key_b).ok()) continue;
    const int expected = compare(least(a), least(b));
    const int actual = key_a.compare(key_b);
    ASSERT_EQ(expected < 0, actual < 0) << bson::ToJson(a) << " and " << bson::ToJson(b);
    ASSERT_EQ(expected == 0, actual == 0) << bson::ToJson(a) << " and " << bson::ToJson(b);
    ++compared;
  }
  EXPECT_GT(compared, 500);
}

}  // namespace braid::query
