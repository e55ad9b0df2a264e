// Checkpoints: known bytes, what the strict reader refuses, and whether a changed history is noticed.
#include "braid/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "patterns/chains/checkpoint_testing.h"

namespace braid {
namespace {

using testing::HasSubstr;

/// Three heads, signed with the key of RFC 8032's first test.
Checkpoint Golden() {
  const SigningKey key(test::FromHex<32>("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"));
  const std::vector<CheckpointHead> heads = {
      {3, int64_t{1} << 40, merkle::Sha256("c"), int64_t{1} << 33, merkle::Sha256("z")},
      {-5, 7, merkle::Sha256("a"), 3, merkle::Sha256("x")},
      {0, 0, merkle::Sha256("b"), 0, merkle::Sha256("")}};
  return *MakeCheckpoint({.store = "Lager \"ä\"", .created_at_ms = 1'700'000'000'123, .heads = heads}, key);
}

// Root and signature computed apart from this code: Python's hashlib and struct, and the openssl program.
constexpr char kGoldenJson[] =
    R"({"version":2,"store":"Lager \"ä\"","sequence":1099511627776,"created_at":1700000000123,"chains":3,)"
    R"("root":"d723a516531b71bad79d3e2e3538f5a9fa439c9cbef2d704c7ff3a838065319c","key":"21fe31dfa154a261",)"
    R"("signature":"ea561bf73342a4f56be45a331a5bfa965135e8189dc9fd3beb4c1d1c6a8146e4)"
    R"(03cbf11ac24aea3d5939fbcab12f69921a362e3be954a659b9556c5c7e98df06","heads":[)"
    R"({"chain":-5,"sequence":7,"hash":"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",)"
    R"("records":3,"tree":"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"},)"
    R"({"chain":0,"sequence":0,"hash":"3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d",)"
    R"("records":0,"tree":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},)"
    R"({"chain":3,"sequence":1099511627776,"hash":"2e7d2c03a9507ae265ecf5b5356885a53393a2029d241394997265a1a25aefc6",)"
    R"("records":8589934592,"tree":"594e519ae499312b29433b7dd8a97ff068defcba9755b6d5d00e84c524d67b06"}]})";

/// As programs without trees made it.
constexpr char kVersionOneJson[] =
    R"({"version":1,"store":"Lager \"ä\"","sequence":1099511627776,"created_at":1700000000123,"chains":3,)"
    R"("root":"aa49ca1117d02265662c976bc27cbc3365c4e984edb18750c2aa746026dfd396","key":"21fe31dfa154a261",)"
    R"("signature":"6d2a5873f7c51abcc6e88440fa215b8074d2687ceccdb25516bda82e42562e91)"
    R"(1b519cbcb9f0723ac43204115d2ab42a788280cf665d660fd141b1bd238a8b07","heads":[)"
    R"({"chain":-5,"sequence":7,"hash":"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"},)"
    R"({"chain":0,"sequence":0,"hash":"3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d"},)"
    R"({"chain":3,"sequence":1099511627776,"hash":"2e7d2c03a9507ae265ecf5b5356885a53393a2029d241394997265a1a25aefc6"}]})";

PublicKey GoldenKey() {
  return *PublicKey::FromHex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
}

/// The golden text with one part replaced.
std::string With(std::string_view part, std::string_view replacement) {
  std::string json = kGoldenJson;
  const size_t place = json.find(part);
  EXPECT_NE(place, std::string::npos) << part;
  return place == std::string::npos ? "" : json.replace(place, part.size(), replacement);
}

std::string WhyRefused(const std::string& json) {
  const Result<Checkpoint> checkpoint = ParseCheckpoint(json);
  return checkpoint.ok() ? "not refused" : checkpoint.error().ToString();
}

TEST(CheckpointTest, KnownBytes) {
  EXPECT_EQ(
      Hex(Golden().statement.Bytes()),
      "627261696420636865636b706f696e740000000200000100000000000000018bcfe5687b0000000000000003d723a516531b71bad79d3e"
      "2e3538f5a9fa439c9cbef2d704c7ff3a838065319c0000000a4c616765722022c3a422");
  EXPECT_EQ(ToJson(Golden()), kGoldenJson);
}

TEST(CheckpointTest, VersionOneIsStillReadAndChecked) {
  const Result<Checkpoint> checkpoint = ParseCheckpoint(kVersionOneJson);
  ASSERT_OK(checkpoint);
  EXPECT_OK(checkpoint->Verify(GoldenKey()));
  EXPECT_EQ(ToJson(*checkpoint), kVersionOneJson);
  Checkpoint renamed = *checkpoint;
  renamed.statement.version = 2;
  EXPECT_EQ(renamed.Verify(GoldenKey()).code(), Code::kAuthenticationFailed);
}

TEST(CheckpointTest, TextComesBack) {
  const Result<Checkpoint> checkpoint = ParseCheckpoint(kGoldenJson);
  ASSERT_OK(checkpoint);
  EXPECT_EQ(*checkpoint, Golden());
  EXPECT_OK(checkpoint->Verify(GoldenKey()));
  EXPECT_OK(ParseCheckpoint(With(",\"heads\"", " ,\n\t\"heads\"") + "\n"));
  const Checkpoint empty = *MakeCheckpoint({.store = "empty"}, test::KeyOf(1));
  EXPECT_EQ(signing::HexOf(empty.statement.root), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  ASSERT_OK(ParseCheckpoint(ToJson(empty)));
  EXPECT_OK(ParseCheckpoint(ToJson(empty))->Verify(test::KeyOf(1).public_key()));
}

TEST(CheckpointTest, ReaderNamesWhatItRefuses) {
  EXPECT_THAT(WhyRefused(""), HasSubstr("not a JSON object"));
  EXPECT_THAT(WhyRefused(std::string((128 << 20) + 1, ' ')), HasSubstr("InvalidLength (16): text of 134217729 bytes"));
  EXPECT_THAT(WhyRefused("[]"), HasSubstr("version: missing"));
  EXPECT_THAT(WhyRefused("{}"), HasSubstr("version: missing"));
  EXPECT_THAT(WhyRefused(StrCat(kGoldenJson, "{}")), HasSubstr("more after the JSON object"));
  EXPECT_THAT(WhyRefused(StrCat(kGoldenJson, "x")), HasSubstr("not a JSON object"));
  EXPECT_THAT(WhyRefused(With("\"version\":2", "\"version\":3")),
              HasSubstr("UnsupportedFormat (12): version 3 is not known"));
  EXPECT_THAT(WhyRefused(With("\"version\":2", "\"version\":2.0")), HasSubstr("version: not an integer"));
  EXPECT_THAT(WhyRefused(With("1700000000123", "\"1700000000123\"")), HasSubstr("created_at: not an integer"));
  EXPECT_THAT(WhyRefused(With("\"version\":2", "\"version\":2,\"version\":2")), HasSubstr("version: there twice"));
  EXPECT_THAT(WhyRefused(With("\"version\":2", "\"version\":2,\"more\":1")), HasSubstr("more: an unknown field"));
  EXPECT_THAT(WhyRefused(With("\"chain\":0", "\"chain\":0,\"x\":1")), HasSubstr("heads[1].x: an unknown field"));
  EXPECT_THAT(WhyRefused(With("{\"chain\":-5", "{\"chian\":-5")), HasSubstr("heads[0].chain: missing"));
  EXPECT_THAT(WhyRefused(With("\"root\":\"d7", "\"root\":\"D7")),
              HasSubstr("root: not a lower-case hexadecimal digit"));
  EXPECT_THAT(WhyRefused(With("\"root\":\"d7", "\"root\":\"d")), HasSubstr("root: expected 64 digits, got 63"));
  EXPECT_THAT(WhyRefused(With("\"key\":\"21", "\"key\":\"")), HasSubstr("key: expected 16 digits, got 14"));
  EXPECT_THAT(WhyRefused(With("\"signature\":\"ea", "\"signature\":\"x")), HasSubstr("signature: expected 128 digits"));
  EXPECT_THAT(WhyRefused(With("Lager \\\"ä\\\"", "")), HasSubstr("FailedToParse (9): store: must be 1 to 1024 bytes"));
  EXPECT_THAT(WhyRefused(With("Lager", "\\u0000")), HasSubstr("store: must be"));
  EXPECT_THAT(WhyRefused(With("\"chains\":3", "\"chains\":-1")), HasSubstr("chains: is -1"));
  std::string many = "{";
  for (int i = 0; i < 100; ++i) many += StrCat("\"f", i, "\":1,");
  EXPECT_THAT(WhyRefused(many + "\"version\":1}"), HasSubstr("more fields than any object has"));
  for (const char* field :
       {"version", "store", "sequence", "created_at", "chains", "root", "key", "signature", "heads"}) {
    EXPECT_THAT(WhyRefused(With(StrCat("\"", field, "\":"), "\"other\":")), HasSubstr(StrCat(field, ": missing")));
  }
}

TEST(CheckpointTest, HeadsThatDoNotFitAreNamed) {
  EXPECT_THAT(WhyRefused(With("\"root\":\"d7", "\"root\":\"d8")),
              HasSubstr("ChainBroken (900004): the heads give the root d723"));
  EXPECT_THAT(WhyRefused(With("\"chain\":0", "\"chain\":-5")),
              HasSubstr("ChainBroken (900004): chain -5 is there twice"));
  EXPECT_THAT(WhyRefused(With("\"chain\":0", "\"chain\":4")), HasSubstr("not sorted: chain 3 follows chain 4"));
  EXPECT_THAT(WhyRefused(With("\"chains\":3", "\"chains\":4")), HasSubstr("about 4 chains, but there are 3"));
  EXPECT_THAT(WhyRefused(With("\"sequence\":1099511627776", "\"sequence\":8")), HasSubstr("says sequence 8"));
  EXPECT_THAT(WhyRefused(With("\"sequence\":7", "\"sequence\":-7")), HasSubstr("chain -5 has the sequence -7"));
  EXPECT_THAT(WhyRefused(With("\"sequence\":7", "\"sequence\":8")), HasSubstr("the heads give the root"));
  EXPECT_THAT(WhyRefused(With("\"records\":3", "\"records\":4")), HasSubstr("the heads give the root"));
  EXPECT_THAT(WhyRefused(With("\"tree\":\"2d", "\"tree\":\"2e")), HasSubstr("the heads give the root"));
  EXPECT_THAT(WhyRefused(With("\"records\":3", "\"records\":-3")), HasSubstr("chain -5 has -3 records"));
}

TEST(CheckpointTest, MakeRefusesWhatCannotBeStated) {
  const auto make = [](std::string store, std::vector<CheckpointHead> heads) {
    return MakeCheckpoint({.store = std::move(store), .heads = std::move(heads)}, test::KeyOf(1)).status().ToString();
  };
  EXPECT_THAT(make("s", {{.chain = 2}, {.chain = 1}, {.chain = 2}}), HasSubstr("BadValue (2): chain 2 has two heads"));
  EXPECT_THAT(make("s", {{.chain = 2, .sequence = -1}}), HasSubstr("BadValue (2): chain 2 has the sequence -1"));
  EXPECT_THAT(make("", {}), HasSubstr("BadValue (2): store"));
  EXPECT_THAT(make("\xff", {}), HasSubstr("BadValue (2): store"));
  EXPECT_THAT(make(std::string(1025, 'x'), {}), HasSubstr("BadValue (2): store"));
  std::vector<CheckpointHead> many(kCheckpointChainsMax + 1);
  for (size_t i = 0; i < many.size(); ++i) many[i].chain = static_cast<int64_t>(i);
  EXPECT_THAT(make("s", many), HasSubstr("BadValue (2): chains: is 500001, must be 0 to 500000"));
}

TEST(CheckpointTest, AnotherKeyIsNamed) {
  Checkpoint checkpoint = Golden();
  const Status status = checkpoint.Verify(test::KeyOf(2).public_key());
  EXPECT_EQ(status.code(), Code::kAuthenticationFailed);
  EXPECT_THAT(std::string(status.message()), HasSubstr("names the key 21fe31dfa154a261, but was checked with the key"));
  checkpoint.statement.signature = test::KeyOf(2).Sign(checkpoint.statement.Bytes());  // with the old key's name
  EXPECT_THAT(checkpoint.Verify(GoldenKey()).ToString(), HasSubstr("is not one by the key 21fe31dfa154a261"));
}

// Whatever bit of the text is turned round, and whatever bytes are cut off: refused, or read as the very same.
TEST(CheckpointTest, EveryBitOfTheTextMatters) {
  const std::string json = kGoldenJson;
  for (size_t bit = 0; bit < 8 * json.size(); ++bit) {
    std::string changed = json;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    const Result<Checkpoint> checkpoint = ParseCheckpoint(changed);
    const bool believed = checkpoint.ok() && checkpoint->Verify(GoldenKey()).ok();
    EXPECT_TRUE(!believed || *checkpoint == Golden()) << changed;
  }
  for (size_t size = 0; size < json.size(); ++size) EXPECT_FALSE(ParseCheckpoint(json.substr(0, size)).ok()) << size;
}

// A head cannot be changed along with the root: that is signed.
TEST(CheckpointTest, RewrittenCheckpointHasNoSignature) {
  Checkpoint checkpoint = Golden();
  checkpoint.heads[1].hash[5] ^= 1;
  EXPECT_EQ(checkpoint.Verify(GoldenKey()).code(), Code::kChainBroken);
  const Checkpoint forged = *MakeCheckpoint(
      {checkpoint.statement.store, checkpoint.statement.created_at_ms, checkpoint.heads}, test::KeyOf(2));
  checkpoint.statement.root = forged.statement.root;
  EXPECT_EQ(checkpoint.Verify(GoldenKey()).code(), Code::kAuthenticationFailed);
}

class HistoryTest : public testing::Test {
 protected:
  /// The log as it is now; tests change it.
  Status Check() const {
    return CheckAgainst(log_.checkpoint, test::KeyOf(1).public_key(),
                        [this](int64_t chain, int64_t sequence) -> Result<std::optional<Sha256Hash>> {
                          const auto found = now_.find({chain, sequence});
                          return found == now_.end() ? std::nullopt : std::optional(found->second);
                        });
  }
  HistoryTest() {
    for (const CheckpointHead& head : log_.checkpoint.heads) now_[{head.chain, head.sequence}] = head.hash;
  }

  Random random_{test::Seed()};
  test::TestLog log_{random_, 20, 3};
  std::map<std::pair<int64_t, int64_t>, Sha256Hash> now_;
};

TEST_F(HistoryTest, KeptHistoryIsOkWhateverCameLater) {
  EXPECT_OK(Check());
  now_[{log_.checkpoint.heads[0].chain, 1'000'000}] = Sha256Hash{};
  now_[{1'000'000, 1}] = Sha256Hash{};
  EXPECT_OK(Check());
}

TEST_F(HistoryTest, ChangedChainIsNamed) {
  const CheckpointHead& head = log_.checkpoint.heads[random_.Below(20)];
  now_[{head.chain, head.sequence}] = merkle::Sha256("rewritten");
  EXPECT_EQ(Check().ToString(),
            StrCat("ChainBroken (900004): history was changed in 1 of 20 chains since the checkpoint: chain ",
                   head.chain, ", sequence ", head.sequence, ": expected ", signing::HexOf(head.hash), ", found ",
                   signing::HexOf(merkle::Sha256("rewritten"))));
  now_.erase({head.chain, head.sequence});
  EXPECT_THAT(Check().ToString(), HasSubstr(StrCat("expected ", signing::HexOf(head.hash), ", found no record")));
}

TEST_F(HistoryTest, ManyChangesAreCountedAndTenNamed) {
  now_.clear();
  const std::string message = Check().ToString();
  EXPECT_THAT(message, HasSubstr("changed in 20 of 20 chains"));
  EXPECT_EQ(Split(message, ';').size(), 10u);
}

TEST_F(HistoryTest, UnverifiedCheckpointAndFailedLookupAreErrors) {
  const HashLookup fails = [](int64_t, int64_t) { return Status(Code::kHostUnreachable, "gone"); };
  EXPECT_EQ(CheckAgainst(log_.checkpoint, test::KeyOf(1).public_key(), fails).code(), Code::kHostUnreachable);
  EXPECT_EQ(CheckAgainst(log_.checkpoint, test::KeyOf(2).public_key(), fails).code(), Code::kAuthenticationFailed);
  log_.checkpoint.heads.pop_back();
  EXPECT_EQ(Check().code(), Code::kChainBroken);
}

}  // namespace
}  // namespace braid
