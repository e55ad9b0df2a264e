// What projections show: inclusion, exclusion, computed fields, $unset, needed paths.
#include "engine/language/project/projection.h"

#include "base/random.h"
#include "engine/bson/builder.h"
#include "engine/language/project/testing.h"

namespace braid::query {
namespace {

using test::Canonical;
using test::Case;
using test::Show;
using Use = Projection::Use;

void CheckBoth(const Case& c) {
  for (Use use : {Use::kFind, Use::kProject}) test::Check(c, use);
}

TEST(ProjectionTest, TopLevel) {
  const Case cases[] = {
      {"{'a': 1}", "{'_id': 1, 'a': 2, 'b': 3}", "{'_id': 1, 'a': 2}"},
      {"{'b': 1, 'a': 1}", "{'a': 2, 'b': 3, '_id': 1}", "{'a': 2, 'b': 3, '_id': 1}"},
      {"{'a': 1, '_id': 0}", "{'_id': 1, 'a': 2, 'b': 3}", "{'a': 2}"},
      {"{'_id': 1}", "{'_id': 1, 'a': 2}", "{'_id': 1}"},
      {"{'_id': 0}", "{'_id': 1, 'a': 2}", "{'a': 2}"},
      {"{'x': 1, '_id': 0}", "{'_id': 1, 'a': 2}", "{}"},
      {"{'a': 0}", "{'_id': 1, 'a': 2, 'b': 3}", "{'_id': 1, 'b': 3}"},
      {"{'a': 0, '_id': 0}", "{'_id': 1, 'a': 2, 'b': 3}", "{'b': 3}"},
      {"{'a': 0, '_id': 1}", "{'_id': 1, 'a': 2, 'b': 3}", "{'_id': 1, 'b': 3}"},
      {"{'b': 0, 'x': 0}", "{'a': 1, 'b': 2, 'c': 3}", "{'a': 1, 'c': 3}"},
      {"{'c': 0, 'a': 0}", "{'a': 1, 'b': 2, 'c': 3}", "{'b': 2}"},
      {"{'a': 1}", "{}", "{}"},
      {"{'a': 0}", "{}", "{}"},
      {"{'a': 2.5}", "{'a': [1, {'b': 2}]}", "{'a': [1, {'b': 2}]}"},
      {"{'a': {'$numberDecimal': '0'}}", "{'a': 1, 'b': 2}", "{'b': 2}"},
      {"{'a': {'$numberDouble': 'NaN'}}", "{'a': 1, 'b': 2}", "{'a': 1}"},
  };
  for (const Case& c : cases) CheckBoth(c);
}

TEST(ProjectionTest, EmptyFindShowsEverything) {
  const auto projection = test::ParseText("{}", Use::kFind);
  EXPECT_EQ(Show(projection, "{'_id': 1, 'a': {'b': []}}"), Canonical("{'_id': 1, 'a': {'b': []}}"));
  EXPECT_TRUE((*projection)->identity());
  EXPECT_FALSE((*test::ParseText("{'a': 0}", Use::kFind))->identity());
  EXPECT_FALSE((*test::ParseText("{'a': 1}", Use::kFind))->identity());
}

TEST(ProjectionTest, Paths) {
  const Case cases[] = {
      {"{'a.b': 1}", "{'a': {'b': 1, 'c': 2}, 'd': 3}", "{'a': {'b': 1}}"},
      {"{'a': {'b': 1}}", "{'a': {'b': 1, 'c': 2}, 'd': 3}", "{'a': {'b': 1}}"},
      {"{'a.c': 1, 'd': 1, 'a.b': 1}", "{'d': 1, 'a': {'b': 1, 'c': 2, 'e': 3}}", "{'d': 1, 'a': {'b': 1, 'c': 2}}"},
      {"{'a.b': 1}", "{'a': 5}", "{}"},
      {"{'a.b': 1}", "{'a': null}", "{}"},
      {"{'a.b': 1}", "{'a': {}}", "{'a': {}}"},
      {"{'a.b': 1}", "{'a': {'c': 1}}", "{'a': {}}"},
      {"{'a.b': 0}", "{'a': {'b': 1, 'c': 2}, 'd': 3}", "{'a': {'c': 2}, 'd': 3}"},
      {"{'a.b': 0}", "{'a': 5}", "{'a': 5}"},
      {"{'a': {'b': 0, 'c': 0}}", "{'a': {'b': 1, 'c': 2}}", "{'a': {}}"},
      {"{'_id.x': 1}", "{'_id': {'x': 1, 'y': 2}, 'a': 1}", "{'_id': {'x': 1}}"},
      {"{'_id.x': 0}", "{'_id': {'x': 1, 'y': 2}, 'a': 1}", "{'_id': {'y': 2}, 'a': 1}"},
      // arrays keep their shape; an inclusion drops elements that cannot have the field
      {"{'a.b': 1}", "{'a': [1, {'b': 1, 'c': 2}, {'c': 3}, [{'b': 4}, 5], []]}",
       "{'a': [{'b': 1}, {}, [{'b': 4}], []]}"},
      {"{'a.b': 0}", "{'a': [1, {'b': 1, 'c': 2}, [{'b': 4}, 5], []]}", "{'a': [1, {'c': 2}, [{}, 5], []]}"},
      {"{'a.0': 1}", "{'a': [1, {'0': 2}]}", "{'a': [{'0': 2}]}"},
      {"{'a.0': 0}", "{'a': [1, {'0': 2, 'b': 3}]}", "{'a': [1, {'b': 3}]}"},
      {"{'a.b.c': 1}", "{'a': [{'b': [{'c': 1, 'd': 2}, 3]}, {'b': 4}]}", "{'a': [{'b': [{'c': 1}]}, {}]}"},
  };
  for (const Case& c : cases) CheckBoth(c);
}

TEST(ProjectionTest, Computed) {
  const Case cases[] = {
      {"{'x': 'lit', 'y': null}", "{'_id': 1, 'a': 2}", "{'_id': 1, 'x': 'lit', 'y': null}"},
      {"{'x': '$a', 'b': 1}", "{'_id': 1, 'a': 2, 'b': 3}", "{'_id': 1, 'b': 3, 'x': 2}"},
      {"{'a': '$b', 'b': 1}", "{'a': 2, 'b': 3}", "{'b': 3, 'a': 3}"},
      {"{'y': '$a', 'x': '$b'}", "{'a': 2, 'b': 3}", "{'y': 2, 'x': 3}"},
      {"{'x': '$$REMOVE', 'a': 1}", "{'a': 2}", "{'a': 2}"},
      {"{'x': '$nothing'}", "{'a': 2}", "{}"},
      {"{'x': ['$a', '$nothing', 1]}", "{'a': 2}", "{'x': [2, null, 1]}"},
      {"{'_id': '$a', 'b': 1}", "{'_id': 1, 'a': 2, 'b': 3}", "{'b': 3, '_id': 2}"},
      {"{'x': {'$add': ['$a', 1]}}", "{'a': 2}", "{'x': 3}"},
      {"{'x': {'$literal': {'$a': 1}}}", "{'a': 2}", "{'x': {'$a': 1}}"},
      // nested
      {"{'x.y': '$a'}", "{'a': 2}", "{'x': {'y': 2}}"},
      {"{'x.y': '$nothing'}", "{'a': 2}", "{'x': {}}"},
      {"{'x': {'y': '$a', 'z': 'lit'}}", "{'a': 2}", "{'x': {'y': 2, 'z': 'lit'}}"},
      {"{'a.n': '$c', 'c': 1}", "{'a': 5, 'c': 7}", "{'a': {'n': 7}, 'c': 7}"},
      {"{'a.n': 'N', 'a.b': 1}", "{'a': {'b': 1, 'c': 2}}", "{'a': {'b': 1, 'n': 'N'}}"},
      {"{'a.b': 'N'}", "{'a': {'b': 1, 'c': 2}}", "{'a': {'b': 'N'}}"},
      {"{'a.n': 'N', 'a.b': 1}", "{'a': [1, {'b': 2, 'c': 3}, [4]]}",
       "{'a': [{'n': 'N'}, {'b': 2, 'n': 'N'}, [{'n': 'N'}]]}"},
  };
  for (const Case& c : cases) CheckBoth(c);
}

TEST(ProjectionTest, Unset) {
  const std::pair<const char*, const char*> cases[] = {
      {"'a'", "{'_id': 1, 'b': {'c': 1, 'd': 2}}"},
      {"['a', 'b.c']", "{'_id': 1, 'b': {'d': 2}}"},
      {"['_id']", "{'a': 1, 'b': {'c': 1, 'd': 2}}"},
  };
  for (const auto& [specification, expected] : cases) {
    const bson::Document holder = bson::J(std::string("{'u': ") + specification + "}");
    EXPECT_EQ(Show(Projection::ParseUnset(holder.Find("u"), test::NoEnvironment()),
                   "{'_id': 1, 'a': 1, 'b': {'c': 1, 'd': 2}}"),
              Canonical(expected))
        << specification;
  }
  const std::pair<const char*, int> faults[] = {
      {"1", 31002},          {"{'a': 1}", 31002},     {"[]", 31119}, {"['a', 1]", 31120},
      {"['a', 'a']", 31250}, {"['a', 'a.b']", 31249}, {"''", 40352}, {"'$a'", 16410},
      {"'a.$'", 31324},      {"'a.'", 40353},
  };
  for (const auto& [specification, code] : faults) {
    const bson::Document holder = bson::J(std::string("{'u': ") + specification + "}");
    EXPECT_EQ(static_cast<int>(Projection::ParseUnset(holder.Find("u"), test::NoEnvironment()).status().code()), code)
        << specification;
  }
}

TEST(ProjectionTest, NeededPaths) {
  using Paths = std::set<std::string>;
  const auto paths_of = [](const char* specification) {
    const Filter everything;
    const auto projection = test::ParseText(specification, Use::kFind, &everything);
    const Paths* paths = (*projection)->needed_paths();
    return paths == nullptr ? Paths{"(all)"} : *paths;
  };
  EXPECT_EQ(paths_of("{'a': 1}"), (Paths{"_id", "a"}));
  EXPECT_EQ(paths_of("{'a': 1, '_id': 0}"), (Paths{"a"}));
  EXPECT_EQ(paths_of("{'a.b': 1, 'c': {'$slice': 1}, '_id': 0}"), (Paths{"a.b", "c"}));
  EXPECT_EQ(paths_of("{'x': '$a.b', '_id': 0}"), (Paths{"a.b"}));
  EXPECT_EQ(paths_of("{'x.y': '$a', '_id': 0}"), (Paths{"a", "x"}));
  EXPECT_EQ(paths_of("{'x': '$$ROOT'}"), (Paths{"(all)"}));
  EXPECT_EQ(paths_of("{'a.$': 1}"), (Paths{"(all)"}));
  EXPECT_EQ(paths_of("{'a': 0}"), (Paths{"(all)"}));
  EXPECT_EQ(paths_of("{}"), (Paths{"(all)"}));
}

// Including some top-level fields and excluding the same ones splits a document in two: nothing lost, nothing twice,
// order kept.
TEST(ProjectionTest, InclusionAndExclusionPartition) {
  Random random(braid::test::Seed());
  for (int round = 0; round < 300; ++round) {
    bson::Builder document, included, excluded, inclusion, exclusion;
    inclusion.Append("_id", false);
    for (int i = 0; i < 12; ++i) {
      const std::string name = "field" + std::to_string(i);
      const bool chosen = random.Chance(1, 2);
      if (chosen) {
        inclusion.Append(name, true);
        exclusion.Append(name, false);
      }
      if (random.Chance(1, 4)) continue;  // not in this document
      const bson::Document value = bson::Make("n", static_cast<int32_t>(i), "s", name);
      document.Append(name, value);
      (chosen ? included : excluded).Append(name, value);
    }
    inclusion.Append("one", true);  // so that neither specification is empty
    exclusion.Append("one", false);
    document.Append("one", 1.0);
    included.Append("one", 1.0);

    const bson::Document whole = document.Finish();
    bson::Arena arena;
    const auto shown = Projection::Parse(inclusion.Finish(), Use::kFind, nullptr, test::NoEnvironment());
    const auto hidden = Projection::Parse(exclusion.Finish(), Use::kFind, nullptr, test::NoEnvironment());
    ASSERT_OK(shown);
    ASSERT_OK(hidden);
    EXPECT_EQ((*shown)->Apply(whole, arena)->bytes(), included.Finish().bytes());
    EXPECT_EQ((*hidden)->Apply(whole, arena)->bytes(), excluded.Finish().bytes());
  }
}

}  // namespace
}  // namespace braid::query
