// The syncer alone, with a log that can be stopped and broken.
#include "engine/storage/syncer.h"

#include "base/testing/testing.h"

namespace braid::storage {
namespace {

struct FakeLog {
  std::atomic<LogPosition> newest{0};
  std::atomic<LogPosition> synced{0};
  std::atomic<bool> broken{false};

  Syncer::Log log() {
    return {.newest = [this] { return newest.load(); },
            .sync =
                [this](LogPosition) {
                  if (broken) return Status(Code::kInternalError, "no disk");
                  synced = newest.load();
                  return Status();
                }};
  }
};

TEST(SyncerTest, WaitersAreServedInAnyOrder) {
  FakeLog fake;
  Syncer syncer(fake.log());
  fake.newest = 100;
  std::atomic<int> told{0};
  for (LogPosition position = 100; position > 0; --position) {
    syncer.WhenDurable(position, [&fake, &told, position](const Status& status, size_t) {
      if (status.ok() && fake.synced >= position) ++told;
    });
  }
  ASSERT_OK(syncer.WaitDurable(100));
  ASSERT_OK(syncer.WaitDurable(1));
  while (told < 100) std::this_thread::yield();
  EXPECT_EQ(syncer.durable(), 100u);
}

TEST(SyncerTest, CommitsNobodyWaitsForAreSyncedAtTheEnd) {
  FakeLog fake;
  {
    Syncer syncer(fake.log());
    fake.newest = 7;
    syncer.Committed();
  }
  EXPECT_EQ(fake.synced, 7u);
}

TEST(SyncerTest, FailureIsForEver) {
  FakeLog fake;
  Syncer syncer(fake.log());
  fake.newest = 1;
  ASSERT_OK(syncer.WaitDurable(1));
  fake.broken = true;
  fake.newest = 2;
  const Status failed = syncer.WaitDurable(2);
  EXPECT_EQ(failed.code(), Code::kStoreReadOnly);
  EXPECT_NE(failed.message().find("no disk"), std::string_view::npos);
  fake.broken = false;
  EXPECT_EQ(syncer.WaitDurable(2).code(), Code::kStoreReadOnly);
  EXPECT_EQ(syncer.status().code(), Code::kStoreReadOnly);
  EXPECT_OK(syncer.WaitDurable(1));
}

}  // namespace
}  // namespace braid::storage
