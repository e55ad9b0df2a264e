#include "engine/language/match/match_testing.h"

namespace braid::query {

namespace {

constexpr MatchCase kElementCases[] = {
    {"{'a': {'$exists': true}}", "{'a': null}", true},
    {"{'a': {'$exists': true}}", "{}", false},
    {"{'a': {'$exists': 1}}", "{'a': []}", true},
    {"{'a': {'$exists': false}}", "{}", true},
    {"{'a': {'$exists': 0}}", "{'a': 1}", false},
    {"{'a.b': {'$exists': true}}", "{'a': [1, {'b': 2}]}", true},
    {"{'a.b': {'$exists': false}}", "{'a': []}", true},
    {"{'a': {'$type': 'int'}}", "{'a': 1}", true},
    {"{'a': {'$type': 'int'}}", "{'a': 1.5}", false},
    {"{'a': {'$type': 16}}", "{'a': ['x', 1]}", true},
    {"{'a': {'$type': 'number'}}", "{'a': {'$numberDecimal': '1'}}", true},
    {"{'a': {'$type': 'array'}}", "{'a': []}", true},
    {"{'a': {'$type': 4}}", "{'a': [1]}", true},
    {"{'a': {'$type': 'object'}}", "{'a': [{}]}", true},
    {"{'a': {'$type': ['string', 8]}}", "{'a': true}", true},
    {"{'a': {'$type': ['string', 8]}}", "{'a': 1}", false},
    {"{'a': {'$type': -1}}", "{'a': {'$minKey': 1}}", true},
    {"{'a': {'$type': 255}}", "{'a': {'$minKey': 1}}", true},
    {"{'a': {'$type': 127}}", "{'a': {'$maxKey': 1}}", true},
    {"{'a': {'$type': 'minKey'}}", "{'a': {'$maxKey': 1}}", false},
    {"{'a': {'$type': 10}}", "{}", false},
    {"{'a': {'$type': 'null'}}", "{'a': null}", true},
};

constexpr ErrorCase kElementErrors[] = {
    {"{'a': {'$type': 'integer'}}", 2}, {"{'a': {'$type': 0}}", 2},  {"{'a': {'$type': 20}}", 2},
    {"{'a': {'$type': 1.5}}", 2},       {"{'a': {'$type': []}}", 9}, {"{'a': {'$type': {}}}", 14},
    {"{'a': {'$type': [true]}}", 14},
};

}  // namespace

std::span<const MatchCase> ElementCases() { return kElementCases; }

TEST(ElementTest, Matches) { ExpectMatches(kElementCases); }
TEST(ElementTest, Errors) { ExpectErrors(kElementErrors); }

}  // namespace braid::query
