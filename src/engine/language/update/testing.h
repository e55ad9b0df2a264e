// What the tests of updates share: tables of {before, update, expected}, all in JSON.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/strings.h"
#include "engine/bson/json.h"
#include "engine/language/update/update.h"

namespace braid::update::test {

/// `want` is the document after, "=" if nothing changes, or "!28" for an error of that code.
struct Case {
  const char* before;
  const char* update;  // an object, or an array for a pipeline
  const char* want;
  std::vector<const char*> array_filters = {};
  int array_index = -1;
};

inline std::shared_ptr<const query::Environment> TestEnvironment() {
  auto environment = std::make_shared<query::Environment>();
  environment->now_millis = 1'700'000'000'000;
  environment->cluster_time = (uint64_t{1'700'000'000} << 32) | 5;
  return environment;
}

inline std::string Outcome(const Status& error) { return StrCat("!", static_cast<int>(error.code())); }

inline Result<std::unique_ptr<const Update>> ParseCase(const Case& c, bool multi = false) {
  const bson::Document wrapped = bson::J(StrCat("{'u': ", c.update, "}"));
  std::vector<bson::Document> filters;
  for (const char* filter : c.array_filters) filters.push_back(bson::J(filter));
  Update::Options options{.array_filters = {}, .multi = multi, .upsert = false};
  for (const bson::Document& filter : filters) options.array_filters.push_back(filter.view());
  return Update::Parse(wrapped.Find("u"), options, TestEnvironment());
}

/// The result, written as `want` is.
inline std::string RunCase(const Case& c) {
  const auto update = ParseCase(c);
  if (!update.ok()) return Outcome(update.error());
  const auto after = (*update)->Apply(bson::J(c.before), {.array_index = c.array_index});
  if (!after.ok()) return Outcome(after.error());
  return after->has_value() ? bson::ToJson((*after)->view(), bson::JsonForm::kCanonical) : "=";
}

inline std::string Expected(const Case& c) {
  if (c.want[0] == '!' || c.want[0] == '=') return c.want;
  return bson::ToJson(bson::J(c.want).view(), bson::JsonForm::kCanonical);
}

inline void Check(const std::vector<Case>& cases) {
  for (const Case& c : cases) EXPECT_EQ(RunCase(c), Expected(c)) << c.before << " with " << c.update;
}

/// The document that an upsert makes, or the error.
inline std::string RunUpsert(const char* filter, const char* update) {
  const auto parsed = ParseCase({.before = "{}", .update = update, .want = ""});
  if (!parsed.ok()) return Outcome(parsed.error());
  const auto query = query::Filter::Parse(bson::J(filter), TestEnvironment());
  if (!query.ok()) return Outcome(query.error());
  const auto document = (*parsed)->Upsert(*query);
  return document.ok() ? bson::ToJson(document->view(), bson::JsonForm::kRelaxed) : Outcome(document.error());
}

}  // namespace braid::update::test
