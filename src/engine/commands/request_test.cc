// What a client may say of itself in its first hello.
#include "engine/commands/request.h"

#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/bson/builder.h"
#include "engine/bson/json.h"

namespace braid::commands {
namespace {

int MetadataCode(std::string_view json) {
  const bson::Document request = bson::J(json);
  return static_cast<int>(CheckClientMetadata(request.Find("client")).code());
}

TEST(ClientMetadataTest, NeedsDriverAndOs) {
  EXPECT_EQ(MetadataCode("{'client': {'driver': {'name': 'n', 'version': '1'}, 'os': {'type': 'Linux'}, 'x': 1}}"), 0);
  EXPECT_EQ(MetadataCode("{'client': {'os': {'type': 'Linux'}}}"), 183);
  EXPECT_EQ(MetadataCode("{'client': {'driver': {'version': '1'}, 'os': {'type': 'Linux'}}}"), 183);
  EXPECT_EQ(MetadataCode("{'client': {'driver': {'name': 'n'}, 'os': {'type': 'Linux'}}}"), 183);
  EXPECT_EQ(MetadataCode("{'client': {'driver': {'name': 'n', 'version': '1'}}}"), 183);
  EXPECT_EQ(MetadataCode("{'client': {'driver': {'name': 'n', 'version': '1'}, 'os': {}}}"), 183);
  EXPECT_EQ(MetadataCode("{'client': []}"), 183);
}

TEST(ClientMetadataTest, ChecksTypes) {
  EXPECT_EQ(MetadataCode("{'client': 'me'}"), 14);
  EXPECT_EQ(MetadataCode("{'client': null}"), 14);
  EXPECT_EQ(MetadataCode("{'client': {'driver': 1, 'os': {'type': 'Linux'}}}"), 14);
  EXPECT_EQ(MetadataCode("{'client': {'driver': {'name': 1, 'version': '1'}, 'os': {'type': 'Linux'}}}"), 14);
  EXPECT_EQ(MetadataCode("{'client': {'driver': {'name': 'n', 'version': '1'}, 'os': {'type': 1}}}"), 14);
  EXPECT_EQ(MetadataCode("{'client': {'application': 'a'}}"), 14);
  EXPECT_EQ(MetadataCode("{'client': {'application': {'name': 1}}}"), 14);
}

TEST(ClientMetadataTest, LimitsSizes) {
  const auto code = [](std::string_view field, size_t bytes) {
    return MetadataCode(StrCat("{'client': {'driver': {'name': 'n', 'version': '1'}, 'os': {'type': 'L'}, ", field,
                               std::string(bytes, 'x'), "'}}}"));
  };
  EXPECT_EQ(code("'application': {'name': '", 128), 0);
  EXPECT_EQ(code("'application': {'name': '", 129), 184);
  const size_t empty =
      bson::J("{'driver': {'name': 'n', 'version': '1'}, 'os': {'type': 'L'}, 'more': {'x': ''}}").bytes().size();
  EXPECT_EQ(code("'more': {'x': '", kClientMetadataBytesMax - empty), 0);
  EXPECT_EQ(code("'more': {'x': '", kClientMetadataBytesMax - empty + 1), 185);
}

}  // namespace
}  // namespace braid::commands
