#include "http/route.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace braid::http {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr Route kTestRoutes[] = {
    {.method = "GET", .path = "/v1/things"},
    {.method = "POST", .path = "/v1/things"},
    {.method = "GET", .path = "/v1/things/{id}"},
    {.method = "GET", .path = "/v1/things/newest"},
    {.method = "GET", .path = "/v1/things/{id}/parts/{part}"},
};

Match Find(std::string method, std::string path) {
  return FindRoute(kTestRoutes, {.method = std::move(method), .path = std::move(path)});
}

TEST(RouteTest, FindsTheRouteOfAPathAndDecodesItsParameters) {
  const Match match = Find("GET", "/v1/things/a%2Fb%20c/parts/7");
  ASSERT_NE(match.route, nullptr);
  EXPECT_EQ(match.route->path, "/v1/things/{id}/parts/{part}");
  EXPECT_THAT(match.path, ElementsAre(Pair("id", "a/b c"), Pair("part", "7")));
}

TEST(RouteTest, APathWithoutParametersGoesFirst) {
  EXPECT_EQ(Find("GET", "/v1/things/newest").route->path, "/v1/things/newest");
  EXPECT_EQ(Find("GET", "/v1/things/newest2").route->path, "/v1/things/{id}");
}

TEST(RouteTest, HeadIsTakenForGet) { EXPECT_EQ(Find("HEAD", "/v1/things").route->method, "GET"); }

TEST(RouteTest, AnotherMethodNamesThoseThatThereAre) {
  const Match match = Find("DELETE", "/v1/things");
  EXPECT_EQ(match.route, nullptr);
  EXPECT_THAT(match.allow, ElementsAre("GET", "HEAD", "POST"));
}

TEST(RouteTest, UnknownPathsMatchNothing) {
  for (const char* path : {"", "/", "/v1", "/v1/things/", "/v1/things//parts/1", "/v1/things/%zz", "/v1/things/%4",
                           "/v1/things/a/parts", "v1/things", "/V1/things"}) {
    EXPECT_TRUE(Find("GET", path).allow.empty()) << path;
  }
}

constexpr Parameter kTestParameters[] = {
    {.name = "id", .help = "", .place = Parameter::Place::kPath},
    {.name = "limit", .help = "", .type = Parameter::Type::kInteger, .fallback = "20", .min = 1, .max = 100},
    {.name = "sort", .help = "", .choices = "price,name"},
    {.name = "deep", .help = "", .type = Parameter::Type::kBoolean, .fallback = "false"},
    {.name = "Idempotency-Key", .help = "", .place = Parameter::Place::kHeader},
};

Result<Arguments> ParseTestQuery(std::string query, Fields headers = {}) {
  return Arguments::Parse(kTestParameters, {{"id", "x"}},
                          {.method = "GET", .path = "/", .query = std::move(query), .headers = std::move(headers)});
}

TEST(ArgumentsTest, ReadsPathQueryAndHeader) {
  const auto arguments = ParseTestQuery("limit=7&sort=na%6De&deep=true", {{"idempotency-key", "k1"}});
  ASSERT_TRUE(arguments.ok()) << arguments.error().message();
  EXPECT_EQ(arguments->Text("id"), "x");
  EXPECT_EQ(arguments->Integer("limit"), 7);
  EXPECT_EQ(arguments->Text("sort"), "name");
  EXPECT_TRUE(arguments->Bool("deep"));
  EXPECT_EQ(arguments->Text("Idempotency-Key"), "k1");
}

TEST(ArgumentsTest, WhatIsNotGivenHasItsFallback) {
  const auto arguments = ParseTestQuery("");
  ASSERT_TRUE(arguments.ok());
  EXPECT_EQ(arguments->Integer("limit"), 20);
  EXPECT_EQ(arguments->Text("sort"), "");
  EXPECT_EQ(arguments->OptionalInteger("sort"), std::nullopt);
  EXPECT_FALSE(arguments->Bool("deep"));
}

TEST(ArgumentsTest, WhatIsWrongIsNamed) {
  const std::pair<const char*, const char*> wrong[] = {
      {"limit=0", "limit is '0'"}, {"limit=101", "from 1 to 100"},
      {"limit=7x", "limit"},       {"limit=", "limit"},
      {"sort=size", "price,name"}, {"deep=yes", "deep"},
      {"bogus=1", "'bogus'"},      {"limit=1&limit=2", "more than"},
      {"sort=%ff", "UTF-8"},       {"limit=99999999999999999999", "limit"},
      {"%zz=1", "well-formed"},    {"id=y", "'id'"},
  };
  for (const auto& [query, message] : wrong) {
    const auto arguments = ParseTestQuery(query);
    ASSERT_FALSE(arguments.ok()) << query;
    EXPECT_EQ(arguments.error().code(), Code::kBadValue);
    EXPECT_THAT(std::string(arguments.error().message()), HasSubstr(message));
  }
}

}  // namespace
}  // namespace braid::http
