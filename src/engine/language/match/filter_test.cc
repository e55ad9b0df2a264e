#include "engine/language/match/filter.h"

#include "base/strings.h"
#include "engine/language/match/match_testing.h"

namespace braid::query {

namespace {

struct ElementCase {
  const char* condition;  // the field v
  const char* element;    // the field v
  bool matches;
};
constexpr ElementCase kElements[] = {
    {"{'v': 5}", "{'v': 5.0}", true},
    {"{'v': 5}", "{'v': [5]}", false},
    {"{'v': [1, 2]}", "{'v': [1, 2]}", true},
    {"{'v': null}", "{'v': null}", true},
    {"{'v': {'$gt': 5}}", "{'v': 6}", true},
    {"{'v': {'$gt': 5}}", "{'v': 'x'}", false},
    {"{'v': {'$gt': 5}}", "{'v': [1, 6]}", true},
    {"{'v': {'$in': [1, 2]}}", "{'v': 2}", true},
    {"{'v': {'$ne': 1}}", "{'v': 2}", true},
    {"{'v': {'$regularExpression': {'pattern': '^x', 'options': ''}}}", "{'v': 'xy'}", true},
    {"{'v': {'$elemMatch': {'$gt': 5}}}", "{'v': [6]}", true},
    {"{'v': {'a': 1, 'b': {'$gt': 2}}}", "{'v': {'b': 3, 'a': 1, 'c': 0}}", true},
    {"{'v': {'a': 1}}", "{'v': 1}", false},
    {"{'v': {'$or': [{'a': 1}, {'b': 1}]}}", "{'v': {'b': 1}}", true},
    {"{'v': {}}", "{'v': {'a': 1}}", true},
    {"{'v': {}}", "{'v': 1}", false},
};

struct TextCase {
  const char* filter;
  const char* text;
};
constexpr TextCase kTexts[] = {
    {"{}", "{}"},
    {"{'a': 1}", "{'a': {'$eq': 1}}"},
    {"{'a': {'$gt': 1, '$lt': 5}}", "{'$and': [{'a': {'$gt': 1}}, {'a': {'$lt': 5}}]}"},
    {"{'a': {'$ne': 1}}", "{'a': {'$not': {'$eq': 1}}}"},
    {"{'a': {'$nin': [2, 1]}}", "{'a': {'$not': {'$in': [1, 2]}}}"},
    {"{'a': {'$exists': false}}", "{'a': {'$not': {'$exists': true}}}"},
    {"{'a': {'$not': {'$gt': 1, '$lt': 5}}}", "{'$nor': [{'$and': [{'a': {'$gt': 1}}, {'a': {'$lt': 5}}]}]}"},
    {"{'$or': [{'a': 1}, {'b': {'$size': 2}}]}",
     "{'$or': [{'a': {'$eq': 1}}, {'b': {'$size': {'$numberLong': '2'}}}]}"},
    {"{'a': {'$elemMatch': {'$gt': 1, '$ne': 5}}}", "{'a': {'$elemMatch': {'$gt': 1, '$not': {'$eq': 5}}}}"},
    {"{'a': {'$elemMatch': {'b': 1}}}", "{'a': {'$elemMatch': {'b': {'$eq': 1}}}}"},
    {"{'a': {'$bitsAllSet': 5}}", "{'a': {'$bitsAllSet': [0, 2]}}"},
    {"{'a': {'$mod': [2, 1]}}", "{'a': {'$mod': [{'$numberLong': '2'}, {'$numberLong': '1'}]}}"},
    {"{'a': {'$in': []}}", "{'$alwaysFalse': 1}"},
    {"{'$jsonSchema': {'required': ['a']}}", "{'$jsonSchema': {'required': ['a']}}"},
};

constexpr std::string_view kOperators[] = {"$eq", "$ne", "$gt", "$gte", "$lt", "$lte"};
constexpr std::string_view kPaths[] = {"a", "b", "a.b", "a.0", "b.a.b"};

// One random condition; its operand is of the kind that documents hold.
bson::Document RandomCondition(Random& random, std::string_view path) {
  const bson::Document value = RandomValue(random);
  bson::Builder out;
  out.OpenObject(path).Append(kOperators[random.Below(std::size(kOperators))], value.Find("v")).Close();
  return out.Finish();
}

std::string_view RandomPath(Random& random) { return kPaths[random.Below(std::size(kPaths))]; }

bool Matches(const bson::Document& filter, const bson::Document& document) {
  auto parsed = Filter::Parse(filter, nullptr);
  EXPECT_TRUE(parsed.ok()) << bson::ToJson(filter);
  return *parsed->Matches(document);
}

}  // namespace

TEST(FilterTest, ElementConditions) {
  for (const ElementCase& c : kElements) {
    const bson::Document condition = Spec(c.condition);
    auto filter = Filter::ParseElement(condition.Find("v"), nullptr);
    ASSERT_OK(filter);
    const bson::Document element = Spec(c.element);
    auto matches = filter->MatchesElement(element.Find("v"));
    ASSERT_OK(matches);
    EXPECT_EQ(*matches, c.matches) << c.condition << " over " << c.element;
  }
  EXPECT_EQ(Filter::ParseElement(Spec("{'v': {'$foo': 1}}").Find("v"), nullptr).status().code(), Code::kBadValue);
}

TEST(FilterTest, ToBson) {
  for (const TextCase& c : kTexts)
    EXPECT_EQ(bson::ToJson(ParseSpec(c.filter)->ToBson()), bson::ToJson(bson::J(c.text))) << c.filter;
}

TEST(FilterTest, OutlivesSpecificationAndEnvironment) {
  Filter filter;
  EXPECT_TRUE(filter.matches_everything());
  {
    auto environment = std::make_shared<Environment>();
    environment->collation = *bson::Collation::Parse(bson::J("{'locale': 'en', 'strength': 1}"));
    const bson::Document specification =
        bson::J("{'a': {'$in': ['long enough not to be inline', 'b']}, 'c.d': {'$gte': 'é'}}");
    filter = *Filter::Parse(specification, environment);
  }
  EXPECT_TRUE(*filter.Matches(bson::J("{'a': 'LONG ENOUGH NOT TO BE INLINE', 'c': {'d': 'E'}}")));
}

TEST(FilterTest, NorIsTheComplementAndDeMorganHolds) {
  Random random(test::Seed());
  for (int i = 0; i < 2000; ++i) {
    const std::string_view path = RandomPath(random);
    const bson::Document f = RandomCondition(random, path);
    const bson::Document g = RandomCondition(random, RandomPath(random));
    const bson::Document document = RandomDocument(random);
    bson::Builder nor;
    nor.OpenArray("$nor").AppendNext(f).AppendNext(g).Close();
    bson::Builder and_nor;
    and_nor.OpenArray("$and");
    for (const bson::Document* each : {&f, &g}) {
      and_nor.OpenNextObject().OpenArray("$nor").AppendNext(*each).Close().Close();
    }
    and_nor.Close();
    bson::Builder negated;
    negated.OpenObject(path).Append("$not", f.Find(path)).Close();
    const bool has_f = Matches(f, document);
    const bool has_g = Matches(g, document);
    ASSERT_EQ(Matches(nor.Finish(), document), !has_f && !has_g)
        << bson::ToJson(f) << bson::ToJson(g) << bson::ToJson(document);
    ASSERT_EQ(Matches(and_nor.Finish(), document), !has_f && !has_g);
    ASSERT_EQ(Matches(negated.Finish(), document), !has_f) << bson::ToJson(f) << bson::ToJson(document);
  }
}

TEST(FilterTest, InIsOrOfEq) {
  Random random(test::Seed());
  for (int i = 0; i < 2000; ++i) {
    const std::string_view path = RandomPath(random);
    bson::Builder in;
    bson::Builder any;
    in.OpenObject(path).OpenArray("$in");
    any.OpenArray("$or");
    for (int member = 0; member < 3; ++member) {
      const bson::Document value = RandomValue(random);
      in.AppendNext(value.Find("v"));
      any.OpenNextObject().OpenObject(path).Append("$eq", value.Find("v")).Close().Close();
    }
    in.Close().Close();
    any.Close();
    const bson::Document in_filter = in.Finish();
    const bson::Document document = RandomDocument(random);
    ASSERT_EQ(Matches(in_filter, document), Matches(any.Finish(), document))
        << bson::ToJson(in_filter) << bson::ToJson(document);
  }
}

TEST(FilterTest, ShownFilterMeansTheSame) {
  Random random(test::Seed());
  for (int i = 0; i < 1000; ++i) {
    const bson::Document f = RandomCondition(random, RandomPath(random));
    const bson::Document document = RandomDocument(random);
    const bson::Document shown = Filter::Parse(f, nullptr)->ToBson();
    ASSERT_EQ(Matches(f, document), Matches(shown, document)) << bson::ToJson(f) << bson::ToJson(shown);
  }
}

}  // namespace braid::query
