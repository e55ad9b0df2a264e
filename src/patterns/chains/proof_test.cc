// Inclusion proofs: true ones of all shapes hold, and no lie does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <functional>

#include "patterns/chains/checkpoint_testing.h"

namespace braid {
namespace {

using testing::HasSubstr;

Status Verify(const InclusionProof& proof) {
  return VerifyInclusion(proof, test::KeyOf(1).public_key(), test::kTestHash);
}

/// The proof that `json` is, if it is one that holds.
std::optional<InclusionProof> Believed(std::string_view json) {
  Result<InclusionProof> proof = ParseInclusionProof(json);
  return proof.ok() && Verify(*proof).ok() ? std::optional(*std::move(proof)) : std::nullopt;
}

class ProofTest : public testing::Test {
 protected:
  /// Of the first record of the longest chain of a log.
  static InclusionProof LongProof(const test::TestLog& log) {
    const auto longest =
        std::ranges::max_element(log.chains, {}, [](const auto& chain) { return chain.second.size(); });
    return *log.Prove(longest->first, 0);
  }
  Random random_{test::Seed()};
};

TEST_F(ProofTest, EveryRecordOfLogsOfUpTo33ChainsIsProven) {
  for (size_t chains = 1; chains <= 33; ++chains) {
    const test::TestLog log(random_, chains, 9);
    for (const auto& [chain, records] : log.chains) {
      for (size_t i = 0; i < records.size(); ++i) {
        const Result<InclusionProof> proof = log.Prove(chain, i);
        ASSERT_OK(proof);
        ASSERT_EQ(proof->record_index, static_cast<int64_t>(i));
        ASSERT_OK(Verify(*proof));
        const Result<InclusionProof> back = ParseInclusionProof(ToJson(*proof));
        ASSERT_OK(back);
        ASSERT_EQ(*back, *proof);
        ASSERT_EQ(proof->statement, log.checkpoint.statement);
      }
    }
  }
}

struct Lie {
  const char* name;
  std::function<void(InclusionProof&)> tell;
  Code code;
};

const Lie kLies[] = {
    {"version", [](InclusionProof& p) { p.statement.version = 3; }, Code::kUnsupportedFormat},
    {"version before", [](InclusionProof& p) { p.statement.version = 1; }, Code::kAuthenticationFailed},
    {"version wrapped", [](InclusionProof& p) { p.statement.version += int64_t{1} << 32; }, Code::kUnsupportedFormat},
    {"store", [](InclusionProof& p) { p.statement.store += "x"; }, Code::kAuthenticationFailed},
    {"no store", [](InclusionProof& p) { p.statement.store.clear(); }, Code::kBadValue},
    {"statement sequence", [](InclusionProof& p) { ++p.statement.sequence; }, Code::kAuthenticationFailed},
    {"negative", [](InclusionProof& p) { p.statement.sequence = -1; }, Code::kBadValue},
    {"created_at", [](InclusionProof& p) { ++p.statement.created_at_ms; }, Code::kAuthenticationFailed},
    {"more chains", [](InclusionProof& p) { ++p.statement.chain_count; }, Code::kAuthenticationFailed},
    {"no chains", [](InclusionProof& p) { p.statement.chain_count = 0; }, Code::kAuthenticationFailed},
    {"negative chains", [](InclusionProof& p) { p.statement.chain_count = -1; }, Code::kBadValue},
    {"root", [](InclusionProof& p) { p.statement.root[31] ^= 1; }, Code::kAuthenticationFailed},
    {"key", [](InclusionProof& p) { p.statement.key_id = test::KeyOf(2).public_key().Id(); },
     Code::kAuthenticationFailed},
    {"no key", [](InclusionProof& p) { p.statement.key_id.clear(); }, Code::kAuthenticationFailed},
    {"signature", [](InclusionProof& p) { p.statement.signature[0] ^= 1; }, Code::kAuthenticationFailed},
    {"no signature", [](InclusionProof& p) { p.statement.signature = {}; }, Code::kAuthenticationFailed},
    {"signed by another", [](InclusionProof& p) { p.statement.signature = test::KeyOf(2).Sign(p.statement.Bytes()); },
     Code::kAuthenticationFailed},
    {"chain", [](InclusionProof& p) { ++p.record.chain; }, Code::kChainBroken},
    {"sequence", [](InclusionProof& p) { --p.record.sequence; }, Code::kChainBroken},
    {"negative sequence", [](InclusionProof& p) { p.record.sequence = -1; }, Code::kChainBroken},
    {"prev_hash", [](InclusionProof& p) { p.record.prev_hash[0] ^= 1; }, Code::kChainBroken},
    {"payload", [](InclusionProof& p) { p.record.payload += "x"; }, Code::kChainBroken},
    {"also", [](InclusionProof& p) { p.record.also.push_back(99); }, Code::kChainBroken},
    {"also itself", [](InclusionProof& p) { p.record.also = {p.record.chain}; }, Code::kChainBroken},
    {"also twice",
     [](InclusionProof& p) {
       p.record.also = {98, 98};
     },
     Code::kChainBroken},
    {"also unsorted",
     [](InclusionProof& p) {
       p.record.also = {99, 98};
     },
     Code::kChainBroken},
    {"record index", [](InclusionProof& p) { p.record_index ^= 1; }, Code::kChainBroken},
    {"record index too high", [](InclusionProof& p) { p.record_index = p.records; }, Code::kChainBroken},
    {"record index negative", [](InclusionProof& p) { p.record_index = -1; }, Code::kChainBroken},
    {"record path", [](InclusionProof& p) { p.record_path[0][0] ^= 1; }, Code::kChainBroken},
    {"record path cut above", [](InclusionProof& p) { p.record_path.pop_back(); }, Code::kChainBroken},
    {"record path cut below", [](InclusionProof& p) { p.record_path.erase(p.record_path.begin()); },
     Code::kChainBroken},
    {"record path longer", [](InclusionProof& p) { p.record_path.push_back(p.record_path[0]); }, Code::kChainBroken},
    {"no record path", [](InclusionProof& p) { p.record_path.clear(); }, Code::kChainBroken},
    {"record path swapped", [](InclusionProof& p) { std::swap(p.record_path[0], p.record_path[1]); },
     Code::kChainBroken},
    {"the only record",
     [](InclusionProof& p) {
       p.record_path.clear();
       p.record_index = 0;
       p.records = 1;
     },
     Code::kChainBroken},
    {"a node above as the record's place",
     [](InclusionProof& p) {
       p.record_path.erase(p.record_path.begin());
       p.record_index /= 2;
       p.records = (p.records + 1) / 2;
     },
     Code::kChainBroken},
    {"records", [](InclusionProof& p) { ++p.records; }, Code::kChainBroken},
    {"negative records", [](InclusionProof& p) { p.records = -1; }, Code::kChainBroken},
    {"head sequence", [](InclusionProof& p) { ++p.head_sequence; }, Code::kChainBroken},
    {"head hash", [](InclusionProof& p) { p.head_hash[31] ^= 1; }, Code::kChainBroken},
    {"paths exchanged", [](InclusionProof& p) { std::swap(p.record_path, p.head_path); }, Code::kChainBroken},
    {"index", [](InclusionProof& p) { p.head_index ^= 1; }, Code::kChainBroken},
    {"index too high", [](InclusionProof& p) { p.head_index = p.statement.chain_count; }, Code::kChainBroken},
    {"index negative", [](InclusionProof& p) { p.head_index = -1; }, Code::kChainBroken},
    {"path", [](InclusionProof& p) { p.head_path[0][0] ^= 1; }, Code::kChainBroken},
    {"path cut above", [](InclusionProof& p) { p.head_path.pop_back(); }, Code::kChainBroken},
    {"path cut below", [](InclusionProof& p) { p.head_path.erase(p.head_path.begin()); }, Code::kChainBroken},
    {"path longer", [](InclusionProof& p) { p.head_path.push_back(p.head_path[0]); }, Code::kChainBroken},
    {"no path", [](InclusionProof& p) { p.head_path.clear(); }, Code::kChainBroken},
    {"path swapped", [](InclusionProof& p) { std::swap(p.head_path[0], p.head_path[1]); }, Code::kChainBroken},
    {"path reversed", [](InclusionProof& p) { std::ranges::reverse(p.head_path); }, Code::kChainBroken},
};

TEST_F(ProofTest, EveryFieldMatters) {
  const test::TestLog log(random_, 20, 8);
  const auto longest = std::ranges::max_element(log.chains, {}, [](const auto& chain) { return chain.second.size(); });
  ASSERT_GE(longest->second.size(), 3u) << "of 20 chains of up to 8 records";
  const InclusionProof proof = LongProof(log);
  ASSERT_OK(Verify(proof));
  for (const Lie& lie : kLies) {
    InclusionProof changed = proof;
    lie.tell(changed);
    ASSERT_NE(changed, proof) << lie.name;
    EXPECT_EQ(Verify(changed).code(), lie.code) << lie.name << ": " << Verify(changed).ToString();
    EXPECT_FALSE(Believed(ToJson(changed))) << lie.name;
  }
}

// Whatever is done to the text: it is not believed, or it is read as the very same proof.
TEST_F(ProofTest, EveryBitOfTheTextMatters) {
  const test::TestLog log(random_, 5, 5);
  const InclusionProof proof = LongProof(log);
  const std::string json = ToJson(proof);
  for (size_t bit = 0; bit < 8 * json.size(); ++bit) {
    std::string changed = json;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    const std::optional<InclusionProof> believed = Believed(changed);
    EXPECT_TRUE(!believed || *believed == proof) << changed;
  }
  for (size_t place = 0; place < json.size(); ++place) {
    EXPECT_FALSE(Believed(json.substr(0, place))) << place;
    std::string shorter = json, longer = json;
    shorter.erase(place, 1);
    longer.insert(place, 1, json[random_.Below(json.size())]);
    for (const std::string& changed : {shorter, longer}) {
      const std::optional<InclusionProof> believed = Believed(changed);
      EXPECT_TRUE(!believed || *believed == proof) << changed;
    }
  }
}

// Parts of two true proofs, put together in every way, hold only where they are one of the two.
TEST_F(ProofTest, PartsOfTwoProofsDoNotMix) {
  const test::TestLog log(random_, 9, 4), other_log(random_, 9, 4);
  const auto any_of = [&](const test::TestLog& from) {
    const auto chain = std::next(from.chains.begin(), static_cast<ptrdiff_t>(random_.Below(from.chains.size())));
    return *from.Prove(chain->first, random_.Below(chain->second.size()));
  };
  for (int round = 0; round < 50; ++round) {
    const InclusionProof first = any_of(log), second = any_of(random_.Chance(1, 2) ? log : other_log);
    for (unsigned mix = 0; mix < 256; ++mix) {
      InclusionProof proof = first;
      if (mix & 1) proof.statement = second.statement;
      if (mix & 2) proof.record = second.record;
      if (mix & 4) proof.record_index = second.record_index;
      if (mix & 8) proof.record_path = second.record_path;
      if (mix & 16) proof.records = second.records;
      if (mix & 32) proof.head_index = second.head_index;
      if (mix & 64) proof.head_path = second.head_path;
      if (mix & 128) proof.head_hash = second.head_hash;
      if (mix & 128) proof.head_sequence = second.head_sequence;
      ASSERT_EQ(Verify(proof).ok(), proof == first || proof == second) << "mix " << mix << "\n" << ToJson(proof);
    }
  }
}

TEST_F(ProofTest, AnotherKeyOrAnotherHashDoesNotVerify) {
  const InclusionProof proof = LongProof(test::TestLog(random_, 3, 3));
  EXPECT_EQ(VerifyInclusion(proof, test::KeyOf(2).public_key(), test::kTestHash).code(), Code::kAuthenticationFailed);
  const RecordHash other = [](const HashedFields& record) { return merkle::Sha256(record.payload); };
  EXPECT_EQ(VerifyInclusion(proof, test::KeyOf(1).public_key(), other).code(), Code::kChainBroken);
}

TEST_F(ProofTest, NothingIsInAnEmptyCheckpoint) {
  const test::TestLog empty(random_, 0, 1), one(random_, 1, 1);
  InclusionProof proof = LongProof(one);
  EXPECT_TRUE(proof.head_path.empty());
  EXPECT_TRUE(proof.record_path.empty());
  ASSERT_OK(Verify(proof));
  proof.statement = empty.checkpoint.statement;
  EXPECT_THAT(Verify(proof).ToString(), HasSubstr("ChainBroken (900004): there is no leaf 0 in a tree of 0 leaves"));
  proof.head_index = -1;
  EXPECT_THAT(Verify(proof).ToString(), HasSubstr("there is no number -1 of 0"));
}

TEST_F(ProofTest, OnlyTheTruthCanBeMadeAProof) {
  test::TestLog log(random_, 6, 4);
  auto& [chain, records] = *log.chains.begin();
  EXPECT_THAT(MakeInclusionProof(log.checkpoint, {.chain = 10'000}, {}, test::kTestHash).status().ToString(),
              HasSubstr("BadValue (2): the checkpoint has no chain 10000"));
  records.back().payload += "rewritten";
  EXPECT_THAT(log.Prove(chain, 0).status().ToString(),
              HasSubstr(StrCat("ChainBroken (900004): chain ", chain, ", sequence ", records[0].sequence,
                               ": the record leads to the root ")));
  log.checkpoint.heads[0].hash[0] ^= 1;
  EXPECT_THAT(log.Prove(chain, 0).status().ToString(), HasSubstr("ChainBroken (900004): the heads give the root"));
}

// Even if their hashes lead to a signed head: other chains in another order.
TEST_F(ProofTest, RecordsNoChainCanHaveAreRefused) {
  const auto prove = [](const ProvenRecord& record) {
    const Sha256Hash hash = test::TestHash(record);
    const CheckpointHead head = {.chain = record.chain, .sequence = 5, .hash = hash, .records = 1, .tree = hash};
    const Result<Checkpoint> checkpoint = MakeCheckpoint({.store = "s", .heads = {head}}, test::KeyOf(1));
    EXPECT_OK(checkpoint);
    const InclusionProof proof = {
        .statement = checkpoint->statement, .record = record, .head_sequence = 5, .head_hash = hash, .records = 1};
    const Status made = MakeInclusionProof(*checkpoint, record, {}, test::kTestHash).status();
    EXPECT_EQ(made.ToString(), Verify(proof).ToString());
    return made.ToString();
  };
  EXPECT_EQ(prove({.chain = 7, .sequence = 5}), "OK");
  EXPECT_EQ(prove({.chain = 7, .sequence = 5, .also = {6, 8}}), "OK");
  EXPECT_THAT(prove({.chain = 7, .sequence = -5}), HasSubstr("the record has the sequence -5"));
  for (const std::vector<int64_t>& also : {std::vector<int64_t>{9, 8}, {8, 8}, {6, 7, 8}}) {
    EXPECT_THAT(prove({.chain = 7, .sequence = 5, .also = also}), HasSubstr("chain 7, sequence 5: the other chains"));
  }
}

// Bytes of a proof are those of its record and of two paths.
TEST_F(ProofTest, SizeGrowsByAHashWhenTheChainDoubles) {
  for (const size_t count : {1u, 2u, 1000u, 4096u, 4097u}) {
    std::vector<Sha256Hash> hashes(count);
    const ProvenRecord record = {.chain = 7, .sequence = 5};
    hashes[0] = test::TestHash(record);
    const CheckpointHead head = {
        .chain = 7, .sequence = 5, .records = static_cast<int64_t>(count), .tree = merkle::Root(hashes)};
    const Checkpoint checkpoint = *MakeCheckpoint({.store = "s", .heads = {head}}, test::KeyOf(1));
    const auto proof = MakeInclusionProof(checkpoint, record, {.path = merkle::Path(hashes, 0)}, test::kTestHash);
    ASSERT_OK(proof);
    EXPECT_EQ(proof->record_path.size(), static_cast<size_t>(std::bit_width(count - 1)));
    EXPECT_LT(ToJson(*proof).size(), 900 + 67 * proof->record_path.size());
  }
}

TEST_F(ProofTest, ProofsAndCheckpointsOfVersionOneAreRefusedByName) {
  const test::TestLog log(random_, 4, 3);
  std::string json = ToJson(LongProof(log));
  json.replace(json.find("\"version\":2"), 11, "\"version\":1");
  EXPECT_THAT(ParseInclusionProof(json).status().ToString(),
              HasSubstr("UnsupportedFormat (12): a proof of version 1, which carries all later records"));
  Checkpoint old = log.checkpoint;
  old.statement.version = 1;
  const auto& [chain, records] = *log.chains.begin();
  EXPECT_THAT(MakeInclusionProof(old, records[0], {}, test::kTestHash).status().ToString(),
              HasSubstr("UnsupportedFormat (12): the checkpoint is of version 1"));
}

TEST_F(ProofTest, ReaderNamesWhatItRefuses) {
  const std::string json = ToJson(LongProof(test::TestLog(random_, 4, 3)));
  const auto why = [&](std::string_view part, std::string_view replacement) {
    std::string changed = json;
    const size_t place = changed.find(part);
    EXPECT_NE(place, std::string::npos) << part;
    return ParseInclusionProof(changed.replace(place, part.size(), replacement)).status().ToString();
  };
  EXPECT_THAT(why("\"version\":2", "\"version\":0"), HasSubstr("UnsupportedFormat (12): version 0 is not known"));
  EXPECT_THAT(why("\"head_path\":[\"", "\"head_path\":[\"0"), HasSubstr("head_path[0]: expected 64 digits, got 65"));
  EXPECT_THAT(why("\"record_path\":", "\"record_path\":[1],\"x\":"), HasSubstr("record_path[0]: not a string"));
  EXPECT_THAT(why("\"head\":", "\"head\":[1],\"x\":"), HasSubstr("head: not an object"));
  EXPECT_THAT(why("\"also\":", "\"also\":[1.5],\"x\":"), HasSubstr("record.also[0]: not an integer"));
  EXPECT_THAT(why("\"payload\":\"", "\"payload\":\"0"), HasSubstr("record.payload: an odd number"));
  EXPECT_THAT(why("\"head_index\":", "\"head_index\":0,\"head_index\":"), HasSubstr("head_index: there twice"));
  for (const char* field : {"checkpoint", "record", "record_index", "record_path", "head", "head_index", "head_path"}) {
    EXPECT_THAT(why(StrCat("\"", field, "\":"), "\"other\":"), HasSubstr(StrCat(field, ": missing")));
  }
  for (const char* field : {"chain", "prev_hash", "also", "payload"}) {
    EXPECT_THAT(why(StrCat("\"", field, "\":"), "\"other\":"), HasSubstr(StrCat("record.", field, ": missing")));
  }
  EXPECT_THAT(why("\"root\":", "\"other\":"), HasSubstr("checkpoint.root: missing"));
}

}  // namespace
}  // namespace braid
