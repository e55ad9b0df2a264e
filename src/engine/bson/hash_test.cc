#include "engine/bson/hash.h"

#include <cmath>
#include <limits>

#include "base/testing/testing.h"
#include "engine/bson/builder.h"
#include "engine/bson/json.h"

namespace braid::bson {
namespace {

int64_t HashOfJson(const char* json) { return MongoHash(J(json).Find("v")); }
template <typename T>
int64_t HashOfNumber(T v) {
  return MongoHash(Make("v", v).Find("v"));
}

// E2: constants of MongoDB itself; a hashed shard key must land where MongoDB puts it.
TEST(HashTest, StringsAndIdsAsMongoDb) {
  EXPECT_EQ(HashOfJson("{'v': 'abc'}"), 8478485326885698097);
  EXPECT_EQ(HashOfJson("{'v': ''}"), 2049396243249673340);
  EXPECT_EQ(HashOfJson("{'v': 'a'}"), 2780795045148116090);
  EXPECT_EQ(HashOfJson("{'v': 'user1'}"), 801843209332933044);
  EXPECT_EQ(HashOfJson("{'v': {'$oid': '507f1f77bcf86cd799439011'}}"), -3048436677993134862);
  EXPECT_EQ(HashOfJson("{'v': {'$oid': '000000000000000000000000'}}"), -4293118519463489418);
  EXPECT_EQ(HashOfJson("{'v': {'$binary': {'base64': 'AAECAwQFBgcICQoLDA0ODw==', 'subType': '04'}}}"),
            6084661258071355978);
}

TEST(HashTest, NumbersOfAnyTypeAsMongoDb) {
  EXPECT_EQ(HashOfNumber(1), 5902408780260971510);
  EXPECT_EQ(HashOfNumber(int64_t{1}), 5902408780260971510);
  EXPECT_EQ(HashOfNumber(1.987), 5902408780260971510);
  EXPECT_EQ(HashOfNumber(0), 4854801880128277513);
  EXPECT_EQ(HashOfNumber(-0.5), 4854801880128277513);
  EXPECT_EQ(HashOfNumber(std::nan("")), 4854801880128277513);
  EXPECT_EQ(HashOfNumber(42), -944302157085130861);
  EXPECT_EQ(HashOfNumber(12345), 7147702579911805439);
  EXPECT_EQ(HashOfNumber(int64_t{1} << 40), -7760001454274422498);
  EXPECT_EQ(HashOfNumber(int64_t{9007199254740993}), -4223421864049415010);
  EXPECT_EQ(HashOfNumber(1e10), 7836747956866873986);
  EXPECT_EQ(HashOfNumber(9223372036854775808.0), 4532067210535695462);
  EXPECT_EQ(HashOfNumber(std::numeric_limits<int64_t>::min()), 4532067210535695462);
  EXPECT_EQ(HashOfNumber(1e300), HashOfNumber(std::numeric_limits<int64_t>::max()));
  EXPECT_EQ(HashOfNumber(3.99), -1529429926180645992);
  EXPECT_EQ(HashOfJson("{'v': {'$numberDecimal': '3.99'}}"), 2433984061343616404);
  EXPECT_EQ(HashOfJson("{'v': {'$numberDecimal': '3.5'}}"), 2433984061343616404);
  EXPECT_EQ(HashOfJson("{'v': {'$numberDecimal': '2.5'}}"), 848411777775835583);
  EXPECT_EQ(HashOfJson("{'v': {'$numberDecimal': '-1E+50'}}"), 4532067210535695462);
  EXPECT_EQ(HashOfJson("{'v': {'$numberDecimal': 'NaN'}}"), 4854801880128277513);
}

TEST(HashTest, OtherTypesAsMongoDb) {
  EXPECT_EQ(HashOfJson("{'v': null}"), 2338878944348059895);
  EXPECT_EQ(MongoHash(Value()), 2338878944348059895);
  EXPECT_EQ(HashOfJson("{'v': true}"), 6405873908747105701);
  EXPECT_EQ(HashOfJson("{'v': false}"), 6289544573401934092);
  EXPECT_EQ(HashOfJson("{'v': {'$date': {'$numberLong': '0'}}}"), -1178696894582842035);
  EXPECT_EQ(HashOfJson("{'v': {'a': 1}}"), -8705610352600103477);
  EXPECT_EQ(HashOfJson("{'v': {}}"), 7980500913326740417);
  EXPECT_EQ(HashOfJson("{'v': []}"), 8849948234993459283);
}

}  // namespace
}  // namespace braid::bson
