// What tests of the Timeline share: small epochs made from a seed, and stores that fail after so many transactions.
#pragma once

#include <atomic>
#include <boost/multiprecision/cpp_int.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/strings.h"
#include "braid/clock.h"
#include "braid/timeline.h"
#include "client/fields.h"
#include "client/handles.h"
#include "embedded/testing/stores.h"

namespace braid::timeline {

inline constexpr const char* kThings = "things";
inline constexpr const char* kVersions = "versions";
inline constexpr const char* kOrder = "order";  // a list with the sums `weight` and `count`

/// An epoch to be grown: everything follows from these.
struct TestEpoch {
  int64_t number = 0;
  std::string hash;
  std::string parent;
  int things = 3;
  int entries = 2;

  int64_t documents() const { return things + entries + (things > 0 ? 1 : 0); }
  /// What entry `i` adds to `weight`: up to 40 digits, some negative.
  boost::multiprecision::cpp_int Weight(int i) const {
    Random random(std::hash<std::string>()(StrCat(hash, "/", i)));
    boost::multiprecision::cpp_int weight = random.Next();
    if (random.Chance(1, 2)) weight = weight * random.Next() * 1'000'000;
    return random.Chance(1, 4) ? -weight : weight;
  }
};

/// The epoch after `parent`; another `branch` gives another hash.
inline TestEpoch EpochAfter(const TestEpoch* parent, const std::string& branch, int things = 3, int entries = 2) {
  const int64_t number = parent == nullptr ? 0 : parent->number + 1;
  return {.number = number,
          .hash = StrCat(branch, "-", number),
          .parent = parent == nullptr ? "" : parent->hash,
          .things = things,
          .entries = entries};
}

inline Status PlanEpoch(Growth& growth, const TestEpoch& epoch) {
  BRAID_CHECK_OK(growth.Begin(epoch.number, epoch.hash, epoch.parent));
  for (int i = 0; i < epoch.things; ++i) {
    bson_t* thing = growth.Add(kThings).get();
    BSON_APPEND_UTF8(thing, "_id", StrCat(epoch.hash, ":", i).c_str());
    BSON_APPEND_UTF8(thing, "text", std::string(static_cast<size_t>(i % 50), 'x').c_str());
  }
  for (int i = 0; i < epoch.entries; ++i) {
    const Growth::Entry entry = growth.Append(kOrder, {{"weight", epoch.Weight(i).str()}, {"count", "1"}});
    BSON_APPEND_UTF8(entry.document.get(), "hash", epoch.hash.c_str());
  }
  if (epoch.things > 0) {
    BSON_APPEND_UTF8(growth.Add(kVersions).get(), "_id", StrCat("key", epoch.number % 3, "@", epoch.number).c_str());
  }
  return {};
}

/// Lets so many transactions pass, then the store is gone.
class FailingClients final : public Clients {
 public:
  explicit FailingClients(Clients& inner) : flaky_(inner) {}
  void Allow(int transactions) { allowed_ = transactions; }

 private:
  mongoc_client_t* Pop() override {
    if (allowed_.fetch_sub(1) <= 0) flaky_.Fail(true);
    lent_ = std::make_unique<Client>(flaky_.Acquire());
    return lent_->get();
  }
  void Push(mongoc_client_t* /*client*/) override { lent_.reset(); }

  test::FlakyClients flaky_;
  std::atomic<int> allowed_ = 1'000'000;
  std::unique_ptr<Client> lent_;  // one at a time
};

class TimelineStoreTest : public test::StoreTest {
 protected:
  TimelineOptions Options() const {
    TimelineOptions options;
    options.database = store_.database();
    options.collections = {kThings, kOrder, kVersions};
    options.clock = &clock_;
    return options;
  }
  std::unique_ptr<Timeline> Open(const TimelineOptions& options) { return Open(store_.clients(), options); }
  static std::unique_ptr<Timeline> Open(Clients& clients, const TimelineOptions& options) {
    auto opened = Timeline::Open(clients, options);
    EXPECT_OK(opened);
    return opened.ok() ? *std::move(opened) : nullptr;
  }

  /// Grows all of them, in as many calls as it takes.
  static Status GrowAll(Timeline& timeline, const std::vector<TestEpoch>& epochs) {
    size_t done = 0;
    while (done < epochs.size()) {
      const auto plan = [&](Growth& growth) -> Status {
        for (size_t i = done; i < epochs.size() && !growth.full(); ++i) BRAID_CHECK_OK(PlanEpoch(growth, epochs[i]));
        return {};
      };
      BRAID_TRY(const Timeline::Grown grown, timeline.Grow(plan));
      if (grown.epochs == 0) return Status(Code::kBadValue, "nothing was stored");
      done += static_cast<size_t>(grown.epochs);
    }
    return {};
  }

  /// `count` epochs after the last one of `chain`, on a branch.
  static void Extend(std::vector<TestEpoch>& chain, int count, const std::string& branch, int things = 3) {
    for (int i = 0; i < count; ++i) {
      chain.push_back(EpochAfter(chain.empty() ? nullptr : &chain.back(), branch, things));
    }
  }

  /// The digest of these epochs alone, grown in another database.
  std::string DigestAlone(const std::vector<TestEpoch>& epochs) {
    TimelineOptions options = Options();
    options.database += "_alone";
    client::Bson drop;
    drop.Integer("dropDatabase", 1);
    EXPECT_OK(client::RunCommand(store_.clients().Acquire().get(), options.database.c_str(), drop.get()));
    const auto timeline = Open(options);
    EXPECT_OK(GrowAll(*timeline, epochs));
    std::string digest = timeline->Tip()->digest;
    EXPECT_OK(client::RunCommand(store_.clients().Acquire().get(), options.database.c_str(), drop.get()));
    return digest;
  }

  /// Everything is sound, and as if only these epochs had ever been grown.
  void ExpectOnly(Timeline& timeline, const std::vector<TestEpoch>& epochs) {
    const auto verified = timeline.Verify(nullptr, nullptr);
    ASSERT_OK(verified);
    for (const TimelineDamage& damage : verified->damage) ADD_FAILURE() << damage.epoch << ": " << damage.what;
    EXPECT_EQ(verified->epochs, static_cast<int64_t>(epochs.size()));
    int64_t documents = 0;
    for (const TestEpoch& epoch : epochs) documents += epoch.documents();
    EXPECT_EQ(verified->documents, documents);
    EXPECT_EQ(verified->digest, verified->tip.digest);
    EXPECT_EQ(verified->digest, DigestAlone(epochs));
    EXPECT_EQ(Count(kThings) + Count(kOrder) + Count(kVersions), documents);
  }

  Status Run(const std::function<Status(Transaction&)>& body) {
    return RunTransaction(store_.clients(), {.database = store_.database()}, body);
  }
  /// All documents of a collection, visible or not.
  int64_t Count(const std::string& collection) {
    int64_t count = 0;
    const client::Bson all;
    EXPECT_OK(Run([&](Transaction& transaction) {
      count = 0;
      return transaction.Find(collection, all.get(), [&](const bson_t&) {
        ++count;
        return Status();
      });
    }));
    return count;
  }
  /// A command on the test's database, in JSON.
  void Command(const std::string& json) {
    const auto command = client::ParseJson(json);
    ASSERT_OK(command);
    const auto reply = client::RunCommand(store_.clients().Acquire().get(), store_.database().c_str(), command->get());
    ASSERT_OK(reply);
    EXPECT_FALSE(bson_has_field(reply->get(), "writeErrors")) << json;
  }

  ManualClock clock_;
};

}  // namespace braid::timeline
