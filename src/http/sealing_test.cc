#include "http/sealing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

namespace braid::http {
namespace {

using testing::Contains;
using testing::Key;
using testing::Not;
using testing::Pair;

Response Cacheable(std::string body) {
  Response response{.body = std::move(body)};
  response.cacheable = true;
  return response;
}

std::string Unpack(const std::string& packed) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string text(1 << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

TEST(SealingTest, LargeBodiesAreCompressedForThoseWhoAccept) {
  const std::string body(5000, 'x');
  Response packed{.body = body};
  SealResponse({.headers = {{"accept-encoding", "br, gzip"}}}, {}, packed);
  EXPECT_THAT(packed.headers, Contains(Pair("Content-Encoding", "gzip")));
  EXPECT_LT(packed.body.size(), 100u);
  EXPECT_EQ(Unpack(packed.body), body);
  Response plain{.body = body};
  SealResponse({.headers = {{"accept-encoding", "br, gzip;q=0"}}}, {}, plain);
  EXPECT_EQ(plain.body, body);
  EXPECT_THAT(plain.headers, Contains(Pair("Vary", "Accept-Encoding")));
  Response small{.body = "{}"};
  SealResponse({.headers = {{"accept-encoding", "gzip"}}}, {}, small);
  EXPECT_EQ(small.body, "{}");
}

TEST(SealingTest, AcceptEncodingIsReadWithItsQualities) {
  for (const char* yes : {"gzip", "*", "deflate , gzip;q=0.5", "gzip; q=1.0"}) EXPECT_TRUE(AcceptsGzip(yes)) << yes;
  for (const char* no : {"", "identity", "gzip;q=0", "gzip; q=0.000", "xgzip"}) EXPECT_FALSE(AcceptsGzip(no)) << no;
}

TEST(SealingTest, AClientThatHasTheBodyGets304) {
  Response first = Cacheable("{\"a\": 1}");
  SealResponse({}, {}, first);
  ASSERT_THAT(first.headers, Contains(Key("ETag")));
  const std::string tag = ETagOf("{\"a\": 1}");
  for (const std::string& known : {tag, "\"other\", " + tag, tag.substr(2), std::string("*")}) {
    Response again = Cacheable("{\"a\": 1}");
    SealResponse({.headers = {{"if-none-match", known}}}, {}, again);
    EXPECT_EQ(again.status, 304u) << known;
    EXPECT_EQ(again.body, "");
  }
  Response changed = Cacheable("{\"a\": 2}");
  SealResponse({.headers = {{"if-none-match", tag}}}, {}, changed);
  EXPECT_EQ(changed.status, 200u);
}

TEST(SealingTest, ErrorsAreNotCached) {
  Response error = ErrorResponse(404, "NotFound", "no");
  error.cacheable = true;
  SealResponse({}, {}, error);
  EXPECT_THAT(error.headers, Not(Contains(Key("ETag"))));
  EXPECT_THAT(error.headers, Contains(Pair("Cache-Control", "no-store")));
}

TEST(SealingTest, NoOriginIsAllowedUntilItIsNamed) {
  const Request request{.method = "GET", .headers = {{"host", "127.0.0.1:8080"}, {"origin", "https://a.example"}}};
  Response closed{.body = "{}"};
  SealResponse(request, {}, closed);
  EXPECT_THAT(closed.headers, Not(Contains(Key("Access-Control-Allow-Origin"))));
  EXPECT_EQ(CheckOrigin(request, {}).code(), Code::kUnauthorized);
  const SealOptions open{.allow_origins = {"https://a.example"}};
  Response allowed{.body = "{}"};
  SealResponse(request, open, allowed);
  EXPECT_THAT(allowed.headers, Contains(Pair("Access-Control-Allow-Origin", "https://a.example")));
  EXPECT_TRUE(CheckOrigin(request, open).ok());
}

TEST(SealingTest, ThePagesOfThisServerMayUseIt) {
  const Request request{.method = "GET", .headers = {{"host", "localhost:8080"}, {"origin", "http://localhost:8080"}}};
  EXPECT_TRUE(CheckOrigin(request, {}).ok());
}

TEST(SealingTest, AHostThatIsNotThisServerIsRefused) {
  for (const char* host : {"127.0.0.1", "127.0.0.1:8080", "[::1]:8080", "localhost:1", "braid.localhost", ""}) {
    EXPECT_TRUE(CheckOrigin({.method = "GET", .headers = {{"host", host}}}, {}).ok()) << host;
  }
  for (const char* host : {"evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example"}) {
    EXPECT_FALSE(CheckOrigin({.method = "GET", .headers = {{"host", host}}}, {}).ok()) << host;
  }
}

TEST(MessageTest, AnErrorIsJsonWhateverIsInItsMessage) {
  EXPECT_EQ(ErrorResponse(404, "NotFound", "no \"x\"").body,
            "{ \"error\" : { \"code\" : \"NotFound\", \"message\" : \"no \\\"x\\\"\" } }");
  EXPECT_NE(ErrorResponse(400, "BadRequest", "\xff\xfe").body.find("??"), std::string::npos);
}

TEST(MessageTest, ErrorsOfServicesHaveTheirStatus) {
  EXPECT_EQ(HttpStatusOf(Code::kBadValue), 400u);
  EXPECT_EQ(HttpStatusOf(Code::kNamespaceNotFound), 404u);
  EXPECT_EQ(HttpStatusOf(Code::kTimelineReorganised), 409u);
  EXPECT_EQ(HttpStatusOf(Code::kStoreReadOnly), 503u);
  EXPECT_EQ(HttpStatusOf(Code::kInternalError), 500u);
}

}  // namespace
}  // namespace braid::http
