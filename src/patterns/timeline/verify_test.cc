// Verify() is fed lies: each kind of damage is found, at its epoch, and a sound chain is not blamed.
#include "patterns/timeline/testing.h"

namespace braid::timeline {
namespace {

class TimelineVerifyTest : public TimelineStoreTest {
 protected:
  void SetUp() override {
    timeline_ = Open(Options());
    Extend(chain_, 6, "a");
    ASSERT_OK(GrowAll(*timeline_, chain_));
  }
  // The damage as "EPOCH: WHAT" lines.
  std::vector<std::string> Damage(const Timeline::CheckEpoch& check = nullptr) {
    const auto verified = timeline_->Verify(check, nullptr);
    EXPECT_OK(verified);
    std::vector<std::string> lines;
    if (!verified.ok()) return lines;
    for (const TimelineDamage& damage : verified->damage) lines.push_back(StrCat(damage.epoch, ": ", damage.what));
    EXPECT_EQ(verified->damage_count, static_cast<int64_t>(lines.size()));
    EXPECT_EQ(verified->ok(), lines.empty());
    return lines;
  }
  void ExpectDamage(const std::vector<std::string>& expected) {
    const std::vector<std::string> lines = Damage();
    std::string all;
    for (const std::string& line : lines) all += line + "\n";
    for (const std::string& part : expected) EXPECT_NE(all.find(part), std::string::npos) << part << " not in\n" << all;
    EXPECT_EQ(lines.size(), expected.size()) << all;
  }
  void Update(const std::string& collection, const std::string& filter, const std::string& change) {
    Command(StrCat(R"({"update": ")", collection, R"(", "updates": [{"q": )", filter, R"(, "u": )", change, "}]}"));
  }
  void Delete(const std::string& collection, const std::string& filter) {
    Command(StrCat(R"({"delete": ")", collection, R"(", "deletes": [{"q": )", filter, R"(, "limit": 1}]})"));
  }
  void Insert(const std::string& collection, const std::string& document) {
    Command(StrCat(R"({"insert": ")", collection, R"(", "documents": [)", document, "]}"));
  }

  std::unique_ptr<Timeline> timeline_;
  std::vector<TestEpoch> chain_;
};
INSTANTIATE_ON_STORES(TimelineVerifyTest);

TEST_P(TimelineVerifyTest, ASoundChain) {
  EXPECT_EQ(Damage(), std::vector<std::string>());
  const auto verified = timeline_->Verify(nullptr, nullptr);
  ASSERT_OK(verified);
  EXPECT_EQ(verified->epochs, 6);
  EXPECT_EQ(verified->documents, 36);
  EXPECT_EQ(verified->digest, timeline_->Tip()->digest);
}

TEST_P(TimelineVerifyTest, ADocumentThatWasChanged) {
  const std::string sound = timeline_->Verify(nullptr, nullptr)->digest;
  Update(kThings, R"({"_id": "a-3:1"})", R"({"$set": {"text": "y"}})");
  ExpectDamage({"3: its documents and its record in timeline_epochs do not give its digest"});
  EXPECT_NE(timeline_->Verify(nullptr, nullptr)->digest, sound);
}

TEST_P(TimelineVerifyTest, ADocumentThatIsMissing) {
  Delete(kThings, R"({"_id": "a-3:1"})");
  ExpectDamage({"3: it has 5 documents; its record in timeline_epochs says 6", "3: its documents and its record"});
}

TEST_P(TimelineVerifyTest, ADocumentTooMany) {
  Insert(kThings, R"({"_id": "extra", "epoch": {"$numberLong": "2"}})");
  ExpectDamage({"2: it has 7 documents", "2: its documents and its record"});
}

TEST_P(TimelineVerifyTest, EntriesThatAreMissingMovedOrMiscounted) {
  Delete(kOrder, R"({"_id": {"$numberLong": "5"}})");
  ExpectDamage({"2: it has 5 documents", "2: order 5: this entry is missing", "2: its documents"});
  Insert(kOrder, R"({"_id": {"$numberLong": "50"}, "epoch": {"$numberLong": "2"}})");
  ExpectDamage({"2: order 5: this entry is missing", "2: order 50: there should be no such entry", "2: its documents"});
  Update(kOrder, R"({"_id": {"$numberLong": "9"}})", R"({"$set": {"sums.weight": "1"}})");
  ExpectDamage({"2: order 5: this entry is missing", "2: order 50: there should be no such entry", "2: its documents",
                "4: order 9: its running sums are not those of the epoch's record", "4: its documents"});
}

TEST_P(TimelineVerifyTest, RecordsThatAreWrongOrMissing) {
  Update("timeline_epochs", R"({"_id": 2})", R"({"$set": {"hash": "forged"}})");
  ExpectDamage({"2: its documents and its record", "3: timeline_epochs 3: its parent is a-2, but epoch 2 is forged"});
  Delete("timeline_epochs", R"({"_id": 2})");
  ExpectDamage({"2: timeline_epochs 2: the record is missing"});
}

TEST_P(TimelineVerifyTest, LengthsAndSumsOfARecord) {
  Update("timeline_epochs", R"({"_id": 5})", R"({"$set": {"lengths.order": {"$numberLong": "13"}}})");
  ExpectDamage({"5: order 12: this entry is missing", "-1: timeline_head: it differs from the record of epoch 5"});
  Update("timeline_epochs", R"({"_id": 5})",
         R"({"$set": {"lengths.order": {"$numberLong": "12"}, "sums.order.count": "11"}})");
  ExpectDamage({"5: order 11: its running sums", "-1: timeline_head: it differs"});
}

TEST_P(TimelineVerifyTest, DocumentsOfNoEpoch) {
  Insert(kThings, R"({"_id": "late", "epoch": {"$numberLong": "6"}})");
  Insert(kThings, R"({"_id": "early", "epoch": {"$numberLong": "-3"}})");
  Insert(kVersions, R"({"_id": "unmarked"})");
  Insert(kVersions, R"({"_id": "odd", "epoch": "2"})");
  Insert("timeline_epochs", R"({"_id": {"$numberLong": "6"}, "hash": "x"})");
  ExpectDamage({R"(6: things { "_id" : "late" }: it belongs to no epoch)", R"(-3: things { "_id" : "early" })",
                R"(-1: versions { "_id" : "unmarked" }: it has no epoch)", R"(-1: versions { "_id" : "odd" })",
                R"(6: timeline_epochs { "_id" : 6 }: it belongs to no epoch)"});
}

TEST_P(TimelineVerifyTest, AHeadThatWasLostIsNotBegunAnew) {
  Delete("timeline_head", R"({"_id": "head"})");
  EXPECT_EQ(timeline_->Tip().status().code(), Code::kRecordDamaged);
  EXPECT_EQ(timeline_->Verify(nullptr, nullptr).status().code(), Code::kRecordDamaged);
  EXPECT_EQ(Timeline::Open(store_.clients(), Options()).status().code(), Code::kRecordDamaged);
}

// The caller's own check gets every epoch with its documents, and its findings count.
TEST_P(TimelineVerifyTest, AFurtherCheck) {
  std::map<int64_t, size_t> things;
  const auto check = [&](Transaction& transaction, const EpochDocuments& epoch, const Timeline::OnDamage& damage) {
    EXPECT_EQ(transaction.database(), store_.database());
    EXPECT_EQ(epoch.before.number, epoch.state.number - 1);
    EXPECT_EQ(epoch.documents.size(), 3u);
    things[epoch.state.number] = epoch.documents.at(kThings).size();
    if (epoch.state.number == 4) damage({.epoch = 4, .what = "bad luck"});
    return Status();
  };
  EXPECT_EQ(Damage(check), std::vector<std::string>({"4: bad luck"}));
  EXPECT_EQ(things.size(), 6u);
  EXPECT_EQ(things[5], 3u);
  const auto failing = [](Transaction&, const EpochDocuments&, const Timeline::OnDamage&) {
    return Status(Code::kIllegalOperation, "no");
  };
  EXPECT_EQ(timeline_->Verify(failing, nullptr).status().code(), Code::kIllegalOperation);
}

// Epochs that were looked at already are popped while the rest is being looked at.
TEST_P(TimelineVerifyTest, APopInTheMiddle) {
  TimelineOptions options = Options();
  options.transaction_documents_max = 12;  // two epochs per step
  timeline_ = Open(options);
  std::vector<int64_t> progress;
  const auto verified = timeline_->Verify(nullptr, [&](int64_t epochs) {
    progress.push_back(epochs);
    if (progress.size() != 2) return;  // four were looked at
    chain_.resize(2);
    EXPECT_OK(timeline_->PopTo(1));
    const size_t before = chain_.size();
    Extend(chain_, 6, "b");
    EXPECT_OK(GrowAll(*timeline_, {chain_.begin() + static_cast<std::ptrdiff_t>(before), chain_.end()}));
  });
  ASSERT_OK(verified);
  EXPECT_TRUE(verified->ok()) << verified->damage[0].what;
  EXPECT_EQ(verified->epochs, 8);
  EXPECT_EQ(verified->documents, 48);
  EXPECT_EQ(verified->digest, timeline_->Tip()->digest);
  EXPECT_EQ(progress, std::vector<int64_t>({2, 4, 4, 6, 8, 8}));
}

}  // namespace
}  // namespace braid::timeline
