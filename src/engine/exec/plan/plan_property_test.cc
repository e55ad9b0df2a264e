// The property of all plans: whatever index is taken, the result is that of a walk over the whole collection.
#include <algorithm>

#include "base/strings.h"
#include "engine/bson/compare.h"
#include "engine/exec/plan/index_path.h"
#include "engine/exec/plan/plan_fixture.h"

namespace braid::query::plan {
namespace {

// Few values of many kinds, so that they meet often.
constexpr const char* kScalars[] = {"1",
                                    "2",
                                    "3",
                                    "2.5",
                                    "{'$numberLong': '2'}",
                                    "{'$numberDecimal': '3'}",
                                    "{'$numberDouble': 'NaN'}",
                                    "'a'",
                                    "'A'",
                                    "'ab'",
                                    "'b'",
                                    "''",
                                    "null",
                                    "true",
                                    "false",
                                    "{'$date': 5}",
                                    "{'b': 1}",
                                    "{'b': 2, 'c': 'a'}",
                                    "{'$minKey': 1}",
                                    "{'$maxKey': 1}",
                                    "{'$regularExpression': {'pattern': '^a', 'options': ''}}"};
constexpr const char* kPaths[] = {"a", "b", "c", "d.b", "d.c", "a.b"};

class QueryGenerator {
 public:
  explicit QueryGenerator(uint64_t seed) : random_(seed) {}
  Random& random() { return random_; }

  // Half of them small numbers, so that conditions and values meet.
  std::string Scalar() {
    return random_.Chance(1, 2) ? StrCat(random_.Below(6)) : kScalars[random_.Below(std::size(kScalars))];
  }
  std::string Element() { return random_.Chance(1, 12) ? List(2) : Scalar(); }
  std::string List(int size_max) {
    std::string text = "[";
    const uint64_t size = random_.Below(static_cast<uint64_t>(size_max) + 1);
    for (uint64_t i = 0; i < size; ++i) text += (i > 0 ? ", " : "") + Scalar();
    return text + "]";
  }
  std::string Small() {
    std::string text = "{";
    for (const char* name : {"b", "c"}) {
      if (random_.Chance(2, 3)) text += StrCat(text.size() > 1 ? ", '" : "'", name, "': ", Element());
    }
    return text + "}";
  }
  std::string Value(bool arrays) {
    if (arrays && random_.Chance(1, 4)) return List(3);
    if (random_.Chance(1, 5)) return Small();
    return Scalar();
  }
  std::string Document(int id, bool arrays) {
    std::string text = StrCat("{'_id': ", id);
    for (const char* name : {"a", "b", "c"}) {
      if (random_.Chance(4, 5)) text += StrCat(", '", name, "': ", Value(arrays));
    }
    if (random_.Chance(4, 5)) {
      text += ", 'd': ";
      if (arrays && random_.Chance(1, 2)) {
        text += "[" + Small() + ", " + (random_.Chance(1, 4) ? Scalar() : Small()) + "]";
      } else {
        text += Small();
      }
    }
    return text + "}";
  }
  std::string Path() { return kPaths[random_.Below(std::size(kPaths))]; }

  std::string Condition() {
    constexpr const char* kCompare[] = {"$gt", "$gte", "$lt", "$lte", "$ne", "$eq"};
    switch (random_.Below(16)) {
      case 0: return StrCat("{'$in': [", Operand(), ", ", Operand(), "]}");
      case 1: return StrCat("{'$nin': [", Operand(), ", ", Operand(), "]}");
      case 2: return StrCat("{'$exists': ", random_.Chance(1, 2) ? "true" : "false", "}");
      case 3: return StrCat("{'$gte': ", Operand(), ", '$lte': ", Operand(), "}");
      case 10: return StrCat("{'$gte': ", random_.Below(6), ", '$lte': ", random_.Below(6), "}");
      case 11: return StrCat(random_.Below(6));
      case 4: return StrCat("{'$elemMatch': {'$gte': ", Operand(), ", '$lte': ", Operand(), "}}");
      case 5: return StrCat("{'$not': {'$gt': ", Operand(), "}}");
      case 6: return "{'$regex': '^a'}";
      case 7: return "{'$regex': 'b'}";
      case 8: return List(2);
      case 9: return Operand();
      default: return StrCat("{'", kCompare[random_.Below(std::size(kCompare))], "': ", Operand(), "}");
    }
  }
  std::string Simple() {
    if (random_.Chance(1, 10)) {
      return StrCat("'d': {'$elemMatch': {'b': ", Operand(), ", 'c': {'$gte': ", Operand(), "}}}");
    }
    if (random_.Chance(1, 12)) return StrCat("'_id': {'$gte': ", random_.Below(40), "}");
    return StrCat("'", Path(), "': ", Condition());
  }
  std::string Filter() {
    std::string text = "{'$and': [{" + Simple() + "}";
    const uint64_t more = random_.Below(3);
    for (uint64_t i = 0; i < more; ++i) text += ", {" + Simple() + "}";
    if (random_.Chance(1, 4)) {
      const std::string either = StrCat("{'$or': [{", Simple(), "}, {", Simple(), ", ", "'b': ", Condition(), "}]}");
      if (random_.Chance(1, 2)) return either;
      text += ", " + either;
    }
    return text + "]}";
  }
  std::string Sort() {
    if (random_.Chance(1, 2)) return "{}";
    std::string text = "{";
    for (const char* path : {"a", "b", "d.b", "_id"}) {
      if (random_.Chance(1, 3))
        text += StrCat(text.size() > 1 ? ", '" : "'", path, "': ", random_.Chance(1, 2) ? 1 : -1);
    }
    return text + "}";
  }
  std::string Index(int number) {
    std::string key;
    std::vector<std::string> used;
    const uint64_t fields = 1 + random_.Below(3);
    const bool hashed = random_.Chance(1, 8);
    for (uint64_t i = 0; i < fields; ++i) {
      const std::string path = Path();
      // A path and one below it would make parallel arrays of one array, which is fine, but twice the same is not.
      if (std::ranges::find(used, path) != used.end()) continue;
      key += StrCat(used.empty() ? "'" : ", '", path, "': ");
      key += hashed && used.empty() ? "'hashed'" : random_.Chance(1, 3) ? "-1" : "1";
      used.push_back(path);
    }
    std::string text = StrCat("{'v': 2, 'name': 'i", number, "', 'key': {", key, "}");
    if (random_.Chance(1, 5)) {
      text += ", 'sparse': true";
    } else if (random_.Chance(1, 4)) {
      text += ", 'partialFilterExpression': ";
      text += random_.Chance(1, 2) ? "{'a': {'$gt': 1}}" : "{'b': {'$exists': true}}";
    }
    if (!hashed && random_.Chance(1, 5)) text += ", 'collation': {'locale': 'en', 'strength': 2}";
    return text + "}";
  }

 private:
  std::string Operand() { return random_.Chance(1, 15) ? List(2) : RangeScalar(); }
  // Regular expressions are not allowed as operands of comparisons.
  std::string RangeScalar() {
    const std::string text = Scalar();
    return text.find("$regular") == text.npos ? text : "2";
  }
  Random random_;
};

// Fields in the order of their names, so that covered results can be compared with others.
std::string Canonical(bson::View document) {
  std::vector<std::string> fields;
  for (const bson::Element& field : document)
    fields.push_back(StrCat(field.name, ": ", bson::ToJson(field.value, bson::JsonForm::kCanonical)));
  std::ranges::sort(fields);
  std::string text;
  for (const std::string& field : fields) text += field + "; ";
  return text;
}

std::vector<std::string> Texts(const std::vector<bson::Document>& documents) {
  std::vector<std::string> texts;
  for (const bson::Document& document : documents) texts.push_back(Canonical(document));
  return texts;
}

struct Case {
  bson::Document filter;
  bson::Document sort;
  bson::Document projection;
  std::shared_ptr<const bson::Collation> collation;
};

// Runs one case by one hint against the walk over the collection.
class Comparison {
 public:
  Comparison(PlanFixture& fixture, const Case& c) : fixture_(fixture), case_(c) {}

  Query Make() const { return fixture_.Find(case_.filter, case_.sort, case_.projection, case_.collation); }

  void Check(const Query& query, const std::string& how) {
    Query walk = Make();
    walk.hint = bson::J("{'$natural': 1}");
    const auto expected = fixture_.Read(walk);
    const auto actual = fixture_.Read(query);
    ASSERT_EQ(expected.ok(), actual.ok()) << how << (actual.ok() ? expected : actual).error().ToString();
    if (!expected.ok()) return;
    std::vector<std::string> want = Texts(*expected);
    std::vector<std::string> have = Texts(*actual);
    std::ranges::sort(want);
    std::ranges::sort(have);
    ASSERT_EQ(want, have) << how << " " << bson::ToShell(fixture_.Explain(query).view());
    CheckOrder(query, how);
    CheckPart(query, how);
    Query counted = query;
    const auto count = fixture_.Count(counted);
    ASSERT_OK(count);
    ASSERT_EQ(static_cast<size_t>(*count), want.size()) << how;
  }

 private:
  std::vector<std::string> SortKeys(Query query, const std::string& how) {
    query.projection = nullptr;
    const SortPattern sort = query.sort;
    const auto documents = fixture_.Read(std::move(query));
    EXPECT_TRUE(documents.ok()) << how;
    std::vector<std::string> keys;
    for (const bson::Document& document : *documents) {
      keys.emplace_back();
      EXPECT_OK(sort.AppendSortKey(document, &keys.back()));
    }
    return keys;
  }
  void CheckOrder(const Query& query, const std::string& how) {
    if (query.sort.empty()) return;
    const std::vector<std::string> keys = SortKeys(query, how);
    ASSERT_TRUE(std::ranges::is_sorted(keys)) << how << " " << bson::ToShell(fixture_.Explain(query).view());
  }
  // skip and limit give a part of the same order.
  void CheckPart(Query query, const std::string& how) {
    const std::vector<std::string> all = SortKeys(query, how);
    query.skip = 2;
    query.limit = 5;
    const std::vector<std::string> part = SortKeys(query, how);
    const size_t begin = std::min<size_t>(2, all.size());
    const size_t end = std::min<size_t>(7, all.size());
    ASSERT_EQ(part, std::vector<std::string>(all.begin() + static_cast<ptrdiff_t>(begin),
                                             all.begin() + static_cast<ptrdiff_t>(end)))
        << how;
  }

  PlanFixture& fixture_;
  const Case& case_;
};

class PlanPropertyTest : public testing::TestWithParam<int> {};

TEST_P(PlanPropertyTest, EveryIndexGivesTheResultOfAWalk) {
  QueryGenerator generator(test::Seed() + static_cast<uint64_t>(GetParam()));
  PlanFixture fixture;
  const bool arrays = GetParam() % 3 != 0;
  for (int i = 0; i < 6; ++i) {
    fixture.TryIndex(bson::J(generator.Index(i))).Ignore("two alike now and then");
  }
  for (int i = 0; i < 60; ++i) {
    const bson::Document document = bson::J(generator.Document(i, arrays));
    PlanFixture::Session session(fixture);
    const Status inserted = txn::Insert(session.context(), fixture.collection(), document);
    // Parallel arrays, and arrays under a hashed field, cannot be indexed.
    if (inserted.ok()) ASSERT_OK(session.context().Commit());
  }
  ASSERT_GT(fixture.collection()->state->documents.load(), 10);
  size_t found = 0;
  const auto english = bson::Collation::Parse(bson::J("{'locale': 'en', 'strength': 2}"));
  ASSERT_OK(english);
  for (int i = 0; i < 60 && !testing::Test::HasFailure(); ++i) {
    Case c;
    c.filter = bson::J(generator.Filter());
    c.sort = bson::J(generator.Sort());
    if (generator.random().Chance(1, 3)) c.projection = bson::J("{'_id': 0, 'a': 1, 'b': 1}");
    if (generator.random().Chance(1, 6)) c.projection = bson::J("{'_id': 0, 'a': 1}");
    if (generator.random().Chance(1, 4)) c.collation = *english;
    SCOPED_TRACE(StrCat("filter ", bson::ToShell(c.filter.view()), " sort ", bson::ToShell(c.sort.view()),
                        " collation ", c.collation != nullptr));
    Comparison comparison(fixture, c);
    comparison.Check(comparison.Make(), "free choice");
    found += static_cast<size_t>(fixture.Count(comparison.Make()).value_or(0));
    const Query query = comparison.Make();
    for (const auto& index : fixture.collection()->indexes) {
      const Conditions conditions = Conditions::Of(query.filter.root());
      // A hint forces an index that leaves documents out; then the result is what it holds.
      if (!HoldsAllMatches(*index, query.filter.root(), conditions, c.collation.get())) continue;
      Query hinted = query;
      hinted.hint_name = index->spec.name;
      comparison.Check(hinted, index->spec.name + " " + bson::ToShell(index->spec.ToBson().view()));
    }
  }
  EXPECT_GT(found, 20u);  // the cases are not all empty
}

INSTANTIATE_TEST_SUITE_P(Seeds, PlanPropertyTest, testing::Range(0, test::Rounds(12, 5)));

}  // namespace
}  // namespace braid::query::plan
