#include "engine/language/match/match_testing.h"

namespace braid::query {

namespace {

constexpr MatchCase kBitsCases[] = {
    {"{'a': {'$bitsAllSet': 5}}", "{'a': 7}", true},
    {"{'a': {'$bitsAllSet': 5}}", "{'a': 4}", false},
    {"{'a': {'$bitsAllSet': [0, 2]}}", "{'a': 5.0}", true},
    {"{'a': {'$bitsAllSet': [0, 2]}}", "{'a': 5.5}", false},
    {"{'a': {'$bitsAllSet': [70]}}", "{'a': -1}", true},
    {"{'a': {'$bitsAllClear': [70]}}", "{'a': 1}", true},
    {"{'a': {'$bitsAllClear': 5}}", "{'a': 2}", true},
    {"{'a': {'$bitsAllClear': 5}}", "{'a': 3}", false},
    {"{'a': {'$bitsAllClear': []}}", "{'a': 3}", true},
    {"{'a': {'$bitsAnySet': 5}}", "{'a': 4}", true},
    {"{'a': {'$bitsAnySet': 5}}", "{'a': 2}", false},
    {"{'a': {'$bitsAnyClear': 5}}", "{'a': 4}", true},
    {"{'a': {'$bitsAnyClear': 5}}", "{'a': 7}", false},
    {"{'a': {'$bitsAnyClear': []}}", "{'a': 7}", false},
    {"{'a': {'$bitsAllSet': {'$binary': {'base64': 'AQI=', 'subType': '00'}}}}",
     "{'a': {'$binary': {'base64': 'AQI=', 'subType': '00'}}}", true},
    {"{'a': {'$bitsAllSet': [0, 9]}}", "{'a': {'$binary': {'base64': 'AQI=', 'subType': '00'}}}", true},
    {"{'a': {'$bitsAllSet': [16]}}", "{'a': {'$binary': {'base64': 'AQI=', 'subType': '00'}}}", false},
    {"{'a': {'$bitsAllSet': 1}}", "{'a': 'x'}", false},
    {"{'a': {'$bitsAllSet': 1}}", "{'a': [2, 1]}", true},
    {"{'a': {'$bitsAllSet': 2}}", "{'a': {'$numberDecimal': '1.5'}}", true},
    {"{'a': {'$bitsAllClear': 1}}", "{'a': {'$numberDouble': 'NaN'}}", false},
};

constexpr ErrorCase kBitsErrors[] = {
    {"{'a': {'$bitsAllSet': -1}}", 9},
    {"{'a': {'$bitsAllClear': 1.5}}", 9},
    {"{'a': {'$bitsAnySet': 'x'}}", 2},
    {"{'a': {'$bitsAnySet': [-1]}}", 2},
    {"{'a': {'$bitsAnyClear': ['x']}}", 2},
    {"{'a': {'$bitsAnyClear': [0.5]}}", 2},
    {"{'a': {'$bitsAllSet': [{'$numberLong': '2147483648'}]}}", 2},
};

}  // namespace

std::span<const MatchCase> BitsCases() { return kBitsCases; }

TEST(BitsTest, Matches) { ExpectMatches(kBitsCases); }
TEST(BitsTest, Errors) { ExpectErrors(kBitsErrors); }

}  // namespace braid::query
