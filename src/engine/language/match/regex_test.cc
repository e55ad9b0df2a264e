#include "engine/language/match/regex.h"

#include "engine/language/match/match_testing.h"

namespace braid::query {

namespace {

constexpr MatchCase kRegexCases[] = {
    {"{'a': {'$regex': '^ab'}}", "{'a': 'abc'}", true},
    {"{'a': {'$regex': '^ab'}}", "{'a': 'cab'}", false},
    {"{'a': {'$regex': 'AB', '$options': 'i'}}", "{'a': 'cab'}", true},
    {"{'a': {'$options': 'i', '$regex': 'AB'}}", "{'a': 'cab'}", true},
    {"{'a': {'$regex': '^b', '$options': 'm'}}", "{'a': 'a\\nb'}", true},
    {"{'a': {'$regex': '^b'}}", "{'a': 'a\\nb'}", false},
    {"{'a': {'$regex': 'a.b', '$options': 's'}}", "{'a': 'a\\nb'}", true},
    {"{'a': {'$regex': 'a b # both', '$options': 'x'}}", "{'a': 'ab'}", true},
    {"{'a': {'$regex': '^.$', '$options': 'u'}}", "{'a': 'ä'}", true},
    {"{'a': {'$regularExpression': {'pattern': 'B', 'options': 'i'}}}", "{'a': ['x', 'abc']}", true},
    {"{'a': {'$regularExpression': {'pattern': 'B', 'options': 'i'}}}",
     "{'a': {'$regularExpression': {'pattern': 'B', 'options': 'i'}}}", true},
    {"{'a': {'$regularExpression': {'pattern': 'B', 'options': 'i'}}}",
     "{'a': {'$regularExpression': {'pattern': 'B', 'options': ''}}}", false},
    {"{'a': {'$regex': '1'}}", "{'a': 1}", false},
    {"{'a': {'$regex': 'a', '$gt': 'b'}}", "{'a': 'ca'}", true},
};

constexpr ErrorCase kRegexErrors[] = {
    {"{'a': {'$regex': 5}}", 2},
    {"{'a': {'$regex': 'a', '$options': 5}}", 2},
    {"{'a': {'$options': 'i'}}", 2},
    {"{'a': {'$regex': 'a', '$options': 'q'}}", 51108},
    {"{'a': {'$regex': '('}}", 51091},
    {"{'a': {'$regex': {'$regularExpression': {'pattern': 'a', 'options': 'i'}}, '$options': 'm'}}", 51075},
    {"{'a': {'$regex': 'a\\u0000b'}}", 2},
};

struct PrefixCase {
  const char* pattern;
  const char* options;
  const char* prefix;
  bool exact;
};
constexpr PrefixCase kPrefixes[] = {
    {"^abc", "", "abc", true},
    {"^abc$", "", "abc", false},
    {"abc", "", "", false},
    {"^ab*", "", "a", false},
    {"^ab?c", "", "a", false},
    {"^ab{2}", "", "a", false},
    {"^ab+c", "", "ab", false},
    {"^a.c", "", "a", false},
    {"^a|b", "", "", false},
    {"^abc", "i", "", false},
    {"^abc", "m", "", false},
    {"\\Aabc", "m", "abc", true},
    {"^abc", "s", "abc", true},
    {"^a b#c", "x", "ab", false},
    {"^a\\.b", "", "a.b", true},
    {"^a\\d", "", "a", false},
    {"^\\Qa.b\\Ec", "", "a.bc", true},
    {"^\\Qa|b", "", "", false},
    {"^a\xC3\xA4?", "", "a", false},
    {"^", "", "", false},
    {"^(ab)", "", "", false},
};

}  // namespace

std::span<const MatchCase> RegexCases() { return kRegexCases; }

TEST(RegexTest, Matches) { ExpectMatches(kRegexCases); }
TEST(RegexTest, Errors) { ExpectErrors(kRegexErrors); }

TEST(RegexTest, LiteralPrefix) {
  for (const PrefixCase& c : kPrefixes) {
    const RegexPrefix prefix = LiteralPrefix(c.pattern, c.options);
    EXPECT_EQ(prefix.literal, c.prefix) << c.pattern;
    EXPECT_EQ(prefix.exact, c.exact) << c.pattern;
  }
}

TEST(RegexTest, TextThatIsNotUtf8IsNotMatched) {
  auto regex = CompileRegex(".", "");
  ASSERT_OK(regex);
  auto found = (*regex)->Search("\xff\xfe");
  ASSERT_OK(found);
  EXPECT_FALSE(*found);
}

TEST(RegexTest, EndlessBacktrackingIsAnError) {
  auto filter = ParseSpec("{'a': {'$regex': '(a+)+(b|c)\\\\2$'}}");
  ASSERT_OK(filter);
  const std::string text(5000, 'a');
  EXPECT_FALSE(filter->Matches(bson::Make("a", text)).ok());
}

}  // namespace braid::query
