#include "engine/language/match/match_testing.h"

namespace braid::query {

namespace {

constexpr MatchCase kArrayCases[] = {
    {"{'a': {'$all': [1, 2]}}", "{'a': [2, 3, 1]}", true},
    {"{'a': {'$all': [1, 2]}}", "{'a': [2, 3]}", false},
    {"{'a': {'$all': [1]}}", "{'a': 1}", true},
    {"{'a': {'$all': []}}", "{'a': []}", false},
    {"{'a': {'$all': [[1, 2]]}}", "{'a': [1, 2]}", true},
    {"{'a': {'$all': [{'$regularExpression': {'pattern': '^x', 'options': ''}}, 1]}}", "{'a': ['xy', 1]}", true},
    {"{'a': {'$all': [{'$elemMatch': {'b': 1}}, {'$elemMatch': {'b': 2}}]}}", "{'a': [{'b': 1}, {'b': 2}]}", true},
    {"{'a': {'$all': [{'$elemMatch': {'b': 1}}, {'$elemMatch': {'b': 2}}]}}", "{'a': [{'b': 1}]}", false},
    {"{'a': {'$elemMatch': {'b': 1, 'c': 2}}}", "{'a': [{'b': 1, 'c': 2}]}", true},
    {"{'a': {'$elemMatch': {'b': 1, 'c': 2}}}", "{'a': [{'b': 1}, {'c': 2}]}", false},
    {"{'a': {'$elemMatch': {'b': 1}}}", "{'a': {'b': 1}}", false},
    {"{'a': {'$elemMatch': {}}}", "{'a': [1, {}]}", true},
    {"{'a': {'$elemMatch': {}}}", "{'a': [1]}", false},
    {"{'a': {'$elemMatch': {'0': 5}}}", "{'a': [[5]]}", true},
    {"{'a': {'$elemMatch': {'$gt': 1, '$lt': 5}}}", "{'a': [0, 3]}", true},
    {"{'a': {'$elemMatch': {'$gt': 1, '$lt': 5}}}", "{'a': [0, 6]}", false},
    {"{'a': {'$elemMatch': {'$eq': 1}}}", "{'a': [[1]]}", false},
    {"{'a': {'$elemMatch': {'$elemMatch': {'$eq': 1}}}}", "{'a': [[1]]}", true},
    {"{'a': {'$elemMatch': {'$ne': 1}}}", "{'a': [1, 2]}", true},
    {"{'a': {'$elemMatch': {'$not': {'$gt': 0}}}}", "{'a': [1, 2]}", false},
    {"{'a': {'$elemMatch': {'$or': [{'b': 1}, {'c': 1}]}}}", "{'a': [{'c': 1}]}", true},
    {"{'a': {'$elemMatch': {'$in': [5, null]}}}", "{'a': [1, null]}", true},
    {"{'a.b': {'$elemMatch': {'$eq': 1}}}", "{'a': [{'b': [2]}, {'b': [1]}]}", true},
    {"{'a': {'$size': 2}}", "{'a': [1, 2]}", true},
    {"{'a': {'$size': 2.0}}", "{'a': [1]}", false},
    {"{'a': {'$size': 0}}", "{'a': []}", true},
    {"{'a': {'$size': 0}}", "{}", false},
    {"{'a': {'$size': 2}}", "{'a': [[1, 2]]}", false},
    {"{'a.0': {'$size': 2}}", "{'a': [[1, 2]]}", true},
};

constexpr ErrorCase kArrayErrors[] = {
    {"{'a': {'$all': 5}}", 2},
    {"{'a': {'$all': [{'$elemMatch': {'b': 1}}, 5]}}", 2},
    {"{'a': {'$all': [{'$gt': 5}]}}", 2},
    {"{'a': {'$elemMatch': 5}}", 2},
    {"{'a': {'$elemMatch': {'$foo': 5}}}", 2},
    {"{'a': {'$elemMatch': {'$jsonSchema': {}}}}", 2},
    {"{'a': {'$size': -1}}", 2},
    {"{'a': {'$size': 1.5}}", 2},
    {"{'a': {'$size': 'x'}}", 2},
    {"{'a': {'$size': {'$numberDouble': 'NaN'}}}", 2},
};

struct IndexCase {
  const char* filter;
  const char* document;
  int index;
};
constexpr IndexCase kIndexes[] = {
    {"{'a': 5}", "{'a': [1, 5, 5]}", 1},
    {"{'a': 5}", "{'a': 5}", -1},
    {"{'a': {'$size': 2}}", "{'a': [1, 2]}", -1},
    {"{'a': {'$elemMatch': {'b': 1, 'c': 2}}}", "{'a': [{'b': 1}, {'b': 1, 'c': 2}]}", 1},
    {"{'a': {'$elemMatch': {'$gt': 1, '$lt': 5}}}", "{'a': [9, 0, 2]}", 2},
    {"{'a.b': 5}", "{'a': [{'b': [1, 2]}, {'b': [1, 2, 5]}]}", 1},
    {"{'a.b': {'$elemMatch': {'$eq': 5}}}", "{'a': [{'b': [1]}, {'b': [1, 2, 5]}]}", 1},
    {"{'a.b': {'$elemMatch': {'$eq': 5}}}", "{'a': {'b': [1, 2, 5]}}", 2},
    {"{'a.1': 5}", "{'a': [4, 5]}", 1},
    {"{'a': 5, 'b': 1}", "{'a': [4, 5], 'b': 1}", 1},
    {"{'$or': [{'a': 5}]}", "{'a': [4, 5]}", 1},
    {"{'$or': [{'a': 5}, {'b': 1}]}", "{'a': [4, 5]}", -1},
    {"{'a': {'$ne': 7}}", "{'a': [4, 5]}", -1},
    {"{'a': {'$in': [7, 5]}}", "{'a': [4, 5]}", 1},
};

}  // namespace

std::span<const MatchCase> ArrayCases() { return kArrayCases; }

TEST(ArrayTest, Matches) { ExpectMatches(kArrayCases); }
TEST(ArrayTest, Errors) { ExpectErrors(kArrayErrors); }

TEST(ArrayTest, DetailsNameTheElementOfTheOutermostArray) {
  for (const IndexCase& c : kIndexes) {
    auto filter = ParseSpec(c.filter);
    ASSERT_OK(filter);
    MatchDetails details;
    auto matches = filter->Matches(bson::J(c.document), &details);
    ASSERT_OK(matches);
    EXPECT_TRUE(*matches) << c.filter;
    EXPECT_EQ(details.array_index, c.index) << c.filter << " over " << c.document;
  }
}

TEST(ArrayTest, DetailsAreResetWhenAConjunctionFails) {
  MatchDetails details;
  EXPECT_FALSE(*ParseSpec("{'a': 5, 'b': 1}")->Matches(bson::J("{'a': [4, 5], 'b': 2}"), &details));
  EXPECT_EQ(details.array_index, -1);
}

}  // namespace braid::query
