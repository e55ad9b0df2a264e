// What the tests of this folder share: tables of cases, filters written as JSON, and random documents.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/testing/testing.h"
#include "engine/bson/builder.h"
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

// Random documents over a few names and values, so that they often coincide.

inline void AppendRandomValue(Random& random, bson::Builder& out, std::string_view name, int depth) {
  switch (random.Below(depth > 0 ? 11 : 8)) {
    case 0: out.Append(name, static_cast<int32_t>(random.Below(4)) - 1); break;
    case 1: out.Append(name, static_cast<int64_t>(random.Below(4)) - 1); break;
    case 2: out.Append(name, static_cast<double>(random.Below(6)) / 2 - 1); break;
    case 3: out.Append(name, bson::Null{}); break;
    case 4: out.Append(name, random.Chance(1, 2)); break;
    case 5: out.Append(name, random.Chance(1, 2) ? "a" : "ab"); break;
    case 6: out.Append(name, bson::Date{static_cast<int64_t>(random.Below(3)) - 1}); break;
    case 7: random.Chance(1, 2) ? out.Append(name, bson::MinKey{}) : out.Append(name, bson::MaxKey{}); break;
    case 8:
      out.OpenObject(name);
      for (std::string_view field : {"a", "b", "0"}) {
        if (random.Chance(1, 3)) AppendRandomValue(random, out, field, depth - 1);
      }
      out.Close();
      break;
    default: {
      static constexpr std::string_view kIndexes[] = {"0", "1", "2"};
      out.OpenArray(name);
      for (uint64_t i = 0, n = random.Below(4); i < n; ++i) AppendRandomValue(random, out, kIndexes[i], depth - 1);
      out.Close();
    }
  }
}

inline bson::Document RandomDocument(Random& random) {
  bson::Builder out;
  for (std::string_view field : {"a", "b"}) {
    if (random.Chance(5, 6)) AppendRandomValue(random, out, field, 3);
  }
  return out.Finish();
}

/// A single value, as the field "v" of a document.
inline bson::Document RandomValue(Random& random) {
  bson::Builder out;
  AppendRandomValue(random, out, "v", 2);
  return out.Finish();
}

}  // namespace braid::query
