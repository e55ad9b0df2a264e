// The operators that only find's projection has: $slice, $elemMatch and the positional one.
#include "engine/language/project/testing.h"

namespace braid::query {
namespace {

using test::Canonical;
using test::Case;
using test::Show;
using Use = Projection::Use;

TEST(FindSliceTest, Results) {
  const Case cases[] = {
      // alone it hides nothing
      {"{'a': {'$slice': 1}}", "{'_id': 1, 'a': [1, 2], 'b': 3}", "{'_id': 1, 'a': [1], 'b': 3}"},
      {"{'a': {'$slice': 1}, '_id': 0}", "{'_id': 1, 'a': [1, 2], 'b': 3}", "{'a': [1], 'b': 3}"},
      {"{'a': {'$slice': 1}, '_id': 1}", "{'_id': 1, 'a': [1, 2], 'b': 3}", "{'_id': 1, 'a': [1]}"},
      {"{'a': {'$slice': 1}, 'b': 0}", "{'_id': 1, 'a': [1, 2], 'b': 3}", "{'_id': 1, 'a': [1]}"},
      {"{'b': 1, 'a': {'$slice': 1}}", "{'_id': 1, 'a': [1, 2], 'b': 3, 'c': 4}", "{'_id': 1, 'a': [1], 'b': 3}"},
      {"{'a': {'$slice': 0}}", "{'a': [1, 2]}", "{'a': []}"},
      {"{'a': {'$slice': 1}}", "{'a': 5}", "{'a': 5}"},
      {"{'a': {'$slice': 1}}", "{'b': 5}", "{'b': 5}"},
      {"{'a': {'$slice': [-2, 1]}}", "{'a': [1, 2, 3]}", "{'a': [2]}"},
      // through paths and arrays, but not into an array within an array
      {"{'a.b': {'$slice': 1}}", "{'a': {'b': [1, 2], 'c': 3}}", "{'a': {'b': [1], 'c': 3}}"},
      {"{'a.b': {'$slice': 1}}", "{'a': [{'b': [1, 2]}, 3, {'b': 4}]}", "{'a': [{'b': [1]}, 3, {'b': 4}]}"},
      {"{'a.b': {'$slice': 1}}", "{'a': [[{'b': [1, 2]}]]}", "{'a': [[{'b': [1, 2]}]]}"},
      {"{'a.b': {'$slice': 1}, 'x': 1}", "{'a': [{'b': [1, 2], 'c': 1}, 3]}", "{'a': [{'b': [1]}]}"},
      {"{'a': {'b': {'$slice': -1}}}", "{'a': {'b': [1, 2]}}", "{'a': {'b': [2]}}"},
      // the expression of the same name
      {"{'a': {'$slice': ['$b', 1]}}", "{'_id': 1, 'a': 1, 'b': [3, 4]}", "{'_id': 1, 'a': [3]}"},
  };
  for (const Case& c : cases) test::Check(c, Use::kFind);
}

TEST(FindElemMatchTest, Results) {
  const Case cases[] = {
      {"{'a': {'$elemMatch': {'b': 2}}}", "{'_id': 1, 'a': [{'b': 1}, {'b': 2, 'c': 1}, {'b': 2}], 'd': 1}",
       "{'_id': 1, 'a': [{'b': 2, 'c': 1}]}"},
      {"{'a': {'$elemMatch': {'$gt': 1}}}", "{'_id': 1, 'a': [1, 2, 3]}", "{'_id': 1, 'a': [2]}"},
      {"{'a': {'$elemMatch': {'$gt': 9}}}", "{'_id': 1, 'a': [1, 2, 3]}", "{'_id': 1}"},
      {"{'a': {'$elemMatch': {'$gt': 1}}}", "{'_id': 1, 'a': 5}", "{'_id': 1}"},
      {"{'a': {'$elemMatch': {'$gt': 1}}}", "{'_id': 1}", "{'_id': 1}"},
      {"{'a': {'$elemMatch': {}}}", "{'_id': 1, 'a': [1, {'b': 2}]}", "{'_id': 1, 'a': [{'b': 2}]}"},
      {"{'a': {'$elemMatch': {'$nin': []}}}", "{'_id': 1, 'a': [1, 2]}", "{'_id': 1, 'a': [1]}"},
      {"{'a': {'$elemMatch': {'$in': []}}}", "{'_id': 1, 'a': [1, 2]}", "{'_id': 1}"},
      {"{'a': {'$elemMatch': {'$or': [{'b': 2}, {'b': 3}]}}}", "{'a': [{'b': 1}, {'b': 3}, {'b': 2}]}",
       "{'a': [{'b': 3}]}"},
      {"{'a': {'$elemMatch': {'$elemMatch': {'$gt': 2}}}}", "{'a': [[1], [2, 3], [4]]}", "{'a': [[2, 3]]}"},
      {"{'0': {'$elemMatch': {'$gt': 1}}}", "{'0': [1, 2]}", "{'0': [2]}"},
      // an inclusion appends it, whatever _id says; an exclusion leaves it in place
      {"{'a': {'$elemMatch': {'$gt': 1}}, '_id': 0}", "{'_id': 1, 'a': [1, 2], 'b': 3}", "{'a': [2]}"},
      {"{'a': {'$elemMatch': {'$gt': 1}}, 'b': 1}", "{'_id': 1, 'a': [1, 2], 'b': 3, 'c': 4}",
       "{'_id': 1, 'b': 3, 'a': [2]}"},
      {"{'a': {'$elemMatch': {'$gt': 1}}, 'b': 0}", "{'_id': 1, 'a': [1, 2], 'b': 3, 'c': 4}",
       "{'_id': 1, 'a': [2], 'c': 4}"},
      {"{'a': {'$elemMatch': {'$gt': 9}}, 'b': 0}", "{'_id': 1, 'a': [1, 2], 'b': 3, 'c': 4}", "{'_id': 1, 'c': 4}"},
      {"{'a': {'$elemMatch': {'$gt': 1}}, 'b': {'$slice': 1}}", "{'_id': 1, 'a': [1, 2], 'b': [3, 4]}",
       "{'_id': 1, 'a': [2], 'b': [3]}"},
  };
  for (const Case& c : cases) test::Check(c, Use::kFind);
}

struct PositionalCase {
  const char* filter;
  Case c;
};

TEST(FindPositionalTest, Results) {
  const PositionalCase cases[] = {
      {"{'a': 2}", {"{'a.$': 1}", "{'_id': 1, 'a': [1, 2, 3], 'b': 1}", "{'_id': 1, 'a': [2]}"}},
      {"{'a': {'$gte': 2}}", {"{'a.$': 1}", "{'a': [1, 2, 3]}", "{'a': [2]}"}},
      {"{'a.b': 2}", {"{'a.$': 1}", "{'a': [{'b': 1}, {'b': 2, 'c': 3}]}", "{'a': [{'b': 2, 'c': 3}]}"}},
      {"{'a.b': 2}", {"{'a.b.$': 1}", "{'a': [{'b': 1}, {'b': 2, 'c': 3}]}", "{'a': [{'b': 2}]}"}},
      {"{'a': {'$elemMatch': {'b': 2}}}", {"{'a.$': 1}", "{'a': [{'b': 1}, {'b': 2}]}", "{'a': [{'b': 2}]}"}},
      {"{'a.b': 2}", {"{'a.b.$': 1}", "{'a': {'b': [1, 2], 'c': 3}}", "{'a': {'b': [2]}}"}},
      {"{'a.b': 2}", {"{'a': {'b.$': 1}}", "{'a': {'b': [1, 2], 'c': 3}}", "{'a': {'b': [2]}}"}},
      {"{'a': 2}", {"{'b.$': 1}", "{'a': [1, 2], 'b': [3, 4]}", "{'b': [4]}"}},
      {"{'a': 2}",
       {"{'a.$': 1, 'b': 1, 'c': {'$slice': 1}}", "{'a': [1, 2], 'b': 5, 'c': [6, 7]}",
        "{'a': [2], 'b': 5, 'c': [6]}"}},
      // no array on the path: shown as it is
      {"{'a': 2}", {"{'a.$': 1}", "{'a': 2}", "{'a': 2}"}},
      {"{'a': 2}", {"{'b.$': 1}", "{'a': [2]}", "{}"}},
      {"{'x': 1}", {"{'a.$': 1}", "{'x': 1, 'a': 2}", "{'a': 2}"}},
  };
  for (const auto& [filter_text, c] : cases) {
    const auto filter = Filter::Parse(bson::J(filter_text), test::NoEnvironment());
    ASSERT_OK(filter);
    const auto projection = test::ParseText(c.specification, Use::kFind, &*filter);
    EXPECT_EQ(Show(projection, c.document), Canonical(c.expected)) << c.specification << " of " << c.document;
    EXPECT_TRUE((*projection)->positional());
  }
}

TEST(FindPositionalTest, Faults) {
  const PositionalCase cases[] = {
      {"{}", {"{'a.$': 1}", "{'a': [1]}", "error 51246"}},
      {"{'x': 1}", {"{'a.$': 1}", "{'x': 1, 'a': [1]}", "error 51246"}},
      {"{'x': 2}", {"{'a.$': 1}", "{'x': [1, 2], 'a': [1]}", "error 51247"}},
      {"{'a': 2}", {"{'a.b.$': 1}", "{'a': [1, 2]}", "error 51247"}},  // the element has no b to show
  };
  for (const auto& [filter_text, c] : cases) {
    const auto filter = Filter::Parse(bson::J(filter_text), test::NoEnvironment());
    ASSERT_OK(filter);
    EXPECT_EQ(Show(test::ParseText(c.specification, Use::kFind, &*filter), c.document), c.expected)
        << c.specification << " of " << c.document;
  }
}

TEST(FindPositionalTest, OnlyPositionalOnesSaySo) {
  EXPECT_FALSE((*test::ParseText("{'a': 1}", Use::kFind))->positional());
  EXPECT_FALSE((*test::ParseText("{'a.b': {'$slice': 1}}", Use::kFind))->positional());
}

}  // namespace
}  // namespace braid::query
