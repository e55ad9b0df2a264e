#include "http/web.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/sealing.h"

namespace braid::http {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Pair;

// Without the dashboard the addresses of its views say so; with it they are all one page.
TEST(WebTest, ViewsAreThePageAndOtherPathsAreNot) {
  for (const char* path : {"/", "/staking", "/explorer/block/0xab", "/settlement/symbol/3/record/17"}) {
    const auto response = WebResponse({.method = "GET", .path = path});
    ASSERT_TRUE(response) << path;
    EXPECT_THAT(response->body, HasSubstr(WebFiles().empty() ? "without its dashboard" : "<title>Braid</title>"));
  }
  for (const char* path : {"/v1/nothing", "/nothing", "/stakings", "/assets/none.js", "", "staking"}) {
    EXPECT_FALSE(WebResponse({.method = "GET", .path = path})) << path;
  }
  EXPECT_FALSE(WebResponse({.method = "POST", .path = "/"}));
}

TEST(WebTest, EveryFileUnpacksAndIsNotSentTwice) {
  for (const WebFile& file : WebFiles()) {
    Request request{.method = "GET", .path = std::string(file.path)};
    const auto plain = WebResponse(request);
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->body, Gunzip(file.packed));
    request.headers = {{"accept-encoding", "br, gzip"}};
    EXPECT_EQ(WebResponse(request)->body, file.packed);
    EXPECT_THAT(WebResponse(request)->headers, Contains(Pair("Content-Encoding", "gzip")));
    request.headers = {{"if-none-match", std::string(file.tag)}};
    EXPECT_EQ(WebResponse(request)->status, 304U);
  }
}

TEST(WebTest, PackedTextComesBack) {
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += std::to_string(i * 7919 % 1000);
  EXPECT_EQ(Gunzip(Gzip(text)), text);
  EXPECT_EQ(Gunzip(Gzip("")), "");
}

}  // namespace
}  // namespace braid::http
