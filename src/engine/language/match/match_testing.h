// What the tests of this folder share: tables of cases, and filters written as JSON.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>

#include "base/testing/testing.h"
#include "engine/bson/json.h"
#include "engine/language/match/filter.h"

namespace braid::query {

struct MatchCase {
  std::string_view filter;
  std::string_view document;
  bool matches;
};
struct ErrorCase {
  std::string_view filter;
  int code;
};

// Each family's file has its own; operators_test.cc asks whether every operator is in one of them.
std::span<const MatchCase> ArrayCases();
std::span<const MatchCase> BitsCases();
std::span<const MatchCase> ComparisonCases();
std::span<const MatchCase> ElementCases();
std::span<const MatchCase> EvaluationCases();
std::span<const MatchCase> JsonSchemaCases();
std::span<const MatchCase> LogicalCases();
std::span<const MatchCase> RegexCases();

/// As bson::J, but $type, $regex and $options stay operators instead of becoming binary data or a regex of old Extended
/// JSON.
inline bson::Document Spec(std::string_view text) {
  std::string json(text);
  for (std::string_view name : {"$type'", "$regex'", "$options'"}) {
    for (size_t at = 0; (at = json.find(name, at)) != std::string::npos;) json[at] = '?';
  }
  std::string bytes = bson::J(json).bytes();
  for (std::string_view name : {"?type", "?regex", "?options"}) {
    for (size_t at = 0; (at = bytes.find(name, at)) != std::string::npos;) bytes[at] = '$';
  }
  return bson::Document(std::move(bytes));
}

inline Result<Filter> ParseSpec(std::string_view text) { return Filter::Parse(Spec(text), nullptr); }

inline void ExpectMatches(std::span<const MatchCase> cases) {
  for (const MatchCase& c : cases) {
    const Result<Filter> filter = ParseSpec(c.filter);
    EXPECT_TRUE(filter.ok()) << c.filter << ": " << filter.status().ToString();
    if (!filter.ok()) continue;
    const Result<bool> matches = filter->Matches(Spec(c.document));
    EXPECT_OK(matches);
    if (matches.ok()) {
      EXPECT_EQ(*matches, c.matches) << c.filter << " over " << c.document;
    }
  }
}

inline void ExpectErrors(std::span<const ErrorCase> cases) {
  for (const ErrorCase& c : cases) {
    const Result<Filter> filter = ParseSpec(c.filter);
    ASSERT_FALSE(filter.ok()) << c.filter;
    EXPECT_EQ(static_cast<int>(filter.error().code()), c.code) << c.filter << ": " << filter.error().ToString();
    EXPECT_FALSE(filter.error().message().empty());
  }
}

}  // namespace braid::query
