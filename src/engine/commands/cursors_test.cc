// Cursors: checked out by one request at a time, gone when killed, ended with their session, or idle for too long.
#include "engine/commands/cursors.h"

#include "base/testing/testing.h"

namespace braid::commands {
namespace {

using std::chrono::milliseconds;

class CursorsTest : public ::testing::Test {
 protected:
  int64_t Add(const catalog::Namespace& ns = {"db", "c"}, const std::string& lsid = "", bool no_timeout = false) {
    auto cursor = std::make_unique<OpenCursor>();
    cursor->ns = ns;
    cursor->lsid = lsid;
    cursor->no_timeout = no_timeout;
    return cursors_.Add(std::move(cursor));
  }
  // 0: it can be taken (and is given back), else the code.
  int CodeOf(int64_t id) {
    Result<std::unique_ptr<OpenCursor>> cursor = cursors_.Take(id);
    if (!cursor.ok()) return static_cast<int>(cursor.status().code());
    cursors_.Return(*std::move(cursor));
    return 0;
  }

  static constexpr int kNotFound = 43;
  ManualClock clock_;
  Cursors cursors_{clock_};
};

TEST_F(CursorsTest, TakenReturnedForgotten) {
  const int64_t id = Add();
  EXPECT_GT(id, 0);
  EXPECT_EQ(CodeOf(id), 0);
  EXPECT_EQ(CodeOf(id), 0);
  auto taken = cursors_.Take(id);
  ASSERT_OK(taken);
  EXPECT_EQ((*taken)->id, id);
  cursors_.Forget(id);
  EXPECT_EQ(CodeOf(id), kNotFound);
  EXPECT_EQ(cursors_.figures().open, 0u);
}

TEST_F(CursorsTest, OpenOnesAreCharged) {
  MemoryBudget budget(1 << 20);
  Cursors cursors(clock_, &budget);
  std::vector<int64_t> ids;
  while (cursors.CheckRoom().ok()) {
    ASSERT_LT(ids.size(), 1000u);
    auto cursor = std::make_unique<OpenCursor>();
    cursor->ns = {"db", "c"};
    ids.push_back(cursors.Add(std::move(cursor)));
  }
  EXPECT_GE(ids.size(), 190u);
  EXPECT_EQ(cursors.CheckRoom().code(), Code::kExceededMemoryLimit);
  EXPECT_EQ(cursors.Kill(ids.back(), {"db", "c"}), Cursors::KillOutcome::kKilled);
  cursors.KillAll();
  EXPECT_EQ(budget.used(), 0u);
}

TEST_F(CursorsTest, OneRequestAtATime) {
  const int64_t id = Add();
  auto taken = cursors_.Take(id);
  ASSERT_OK(taken);
  EXPECT_EQ(CodeOf(id), static_cast<int>(Code::kCursorInUse));
  cursors_.Return(*std::move(taken));
  EXPECT_EQ(CodeOf(id), 0);
}

TEST_F(CursorsTest, IdleForTooLong) {
  const int64_t idle = Add();
  const int64_t used = Add();
  const int64_t kept = Add({"db", "c"}, "", /*no_timeout=*/true);
  const int64_t running = Add();
  auto taken = cursors_.Take(running);
  ASSERT_OK(taken);
  clock_.Advance(milliseconds(kCursorTimeoutMillis));
  EXPECT_EQ(cursors_.Expire(), 0u) << "not longer than the timeout yet";
  EXPECT_EQ(CodeOf(used), 0);
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(cursors_.Expire(), 1u);
  EXPECT_EQ(CodeOf(idle), kNotFound);
  EXPECT_EQ(CodeOf(used), 0);
  EXPECT_EQ(CodeOf(kept), 0);
  cursors_.Return(*std::move(taken));
  EXPECT_EQ(CodeOf(running), 0);
  EXPECT_EQ(cursors_.figures().timed_out, 1u);
  EXPECT_EQ(cursors_.figures().no_timeout, 1u);
  EXPECT_EQ(cursors_.figures().open, 3u);
}

TEST_F(CursorsTest, OneWhoseConnectionIsClosedHasLessTime) {
  const auto add = [&](int64_t connection, bool no_timeout) {
    auto cursor = std::make_unique<OpenCursor>();
    cursor->ns = {"db", "c"};
    cursor->used_by = connection;
    cursor->no_timeout = no_timeout;
    return cursors_.Add(std::move(cursor));
  };
  const int64_t closed = add(1, false);
  const int64_t continued = add(1, false);
  const int64_t kept = add(1, true);
  const int64_t open = add(2, false);
  clock_.Advance(milliseconds(kClosedCursorTimeoutMillis * 2));
  EXPECT_EQ(cursors_.Expire(), 0u);
  cursors_.NoteClosed(1);
  clock_.Advance(milliseconds(kClosedCursorTimeoutMillis));
  EXPECT_EQ(cursors_.Expire(), 0u) << "not longer than the timeout yet";
  auto taken = cursors_.Take(continued);  // by another connection of the client
  ASSERT_OK(taken);
  (*taken)->used_by = 3;
  (*taken)->closed_millis = 0;
  cursors_.Return(*std::move(taken));
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(cursors_.Expire(), 1u);
  EXPECT_EQ(CodeOf(closed), kNotFound);
  for (const int64_t id : {continued, kept, open}) EXPECT_EQ(CodeOf(id), 0);
}

TEST_F(CursorsTest, KilledByIdOnItsDatabase) {
  const int64_t id = Add();
  EXPECT_EQ(cursors_.Kill(id, {"other", "c"}), Cursors::KillOutcome::kNotFound);
  EXPECT_EQ(cursors_.Kill(id, {"db", "c"}), Cursors::KillOutcome::kKilled);
  EXPECT_EQ(cursors_.Kill(id, {"db", "c"}), Cursors::KillOutcome::kNotFound);
  EXPECT_EQ(CodeOf(id), kNotFound);
}

TEST_F(CursorsTest, KilledWhileInUseIsGoneOnReturn) {
  const int64_t id = Add();
  auto taken = cursors_.Take(id);
  ASSERT_OK(taken);
  EXPECT_EQ(cursors_.Kill(id, {"db", "c"}), Cursors::KillOutcome::kKilled);
  EXPECT_EQ(cursors_.Kill(id, {"db", "c"}), Cursors::KillOutcome::kNotFound) << "only once";
  cursors_.Return(*std::move(taken));
  EXPECT_EQ(CodeOf(id), kNotFound);
  EXPECT_EQ(cursors_.figures().open, 0u);
}

TEST_F(CursorsTest, EndsWithItsSession) {
  const int64_t mine = Add({"db", "c"}, "me", /*no_timeout=*/true);
  const int64_t other = Add({"db", "c"}, "other");
  const int64_t nobody = Add();
  cursors_.KillSession("me");
  EXPECT_EQ(CodeOf(mine), kNotFound);
  EXPECT_EQ(CodeOf(other), 0);
  EXPECT_EQ(CodeOf(nobody), 0);
}

TEST_F(CursorsTest, EndsWithItsCollectionOrDatabase) {
  const int64_t a = Add({"db", "a"});
  const int64_t b = Add({"db", "b"});
  const int64_t elsewhere = Add({"db2", "a"});
  cursors_.KillNamespace({"db", "a"});
  EXPECT_EQ(CodeOf(a), kNotFound);
  EXPECT_EQ(CodeOf(b), 0);
  cursors_.KillNamespace({"db", ""});
  EXPECT_EQ(CodeOf(b), kNotFound);
  EXPECT_EQ(CodeOf(elsewhere), 0);
  cursors_.KillAll();
  EXPECT_EQ(CodeOf(elsewhere), kNotFound);
}

}  // namespace
}  // namespace braid::commands
