// Requests that continue before new ones.
#include "engine/wire/loops.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <functional>
#include <future>
#include <string>

#include "base/testing/testing.h"

namespace braid::wire {
namespace {

namespace asio = boost::asio;

// Runs on the only thread of a loop, and returns what was noted until all that it posted has run.
std::string NotedOnLoop(const std::function<void(Loop& loop, std::string& notes)>& run) {
  Loops loops({.loops = 1});
  Loop& loop = loops[0];
  std::string notes;
  std::promise<void> done;
  asio::post(loop.context(), [&] {
    run(loop, notes);
    asio::post(loop.context(), [&] { done.set_value(); });
  });
  done.get_future().wait();
  loops.Stop();
  return notes;
}

TEST(LoopsTest, ResumedRequestsGoBeforeNewOnes) {
  EXPECT_EQ(NotedOnLoop([](Loop& loop, std::string& notes) {
              asio::post(loop.context(), [&notes] { notes += "new "; });
              loop.Resume([&notes] { notes += "first "; });
              loop.Resume([&notes] { notes += "second "; });
              notes += "running ";
              loop.RunResumed();
            }),
            "running first second new ");
}

// The chain of writers of one document: each gives the lock to the next.
TEST(LoopsTest, ResumedRequestsMayResumeOthersWithoutNesting) {
  EXPECT_EQ(NotedOnLoop([](Loop& loop, std::string& notes) {
              loop.Resume([&loop, &notes] {
                notes += "(";
                loop.Resume([&notes] { notes += "next "; });
                loop.RunResumed();
                notes += ") ";
              });
              loop.RunResumed();
            }),
            "() next ");
}

TEST(LoopsTest, NewRequestsHaveTheirTurnWhateverIsResumed) {
  std::string notes = NotedOnLoop([](Loop& loop, std::string& notes) {
    asio::post(loop.context(), [&notes] { notes += "new"; });
    for (int i = 0; i < 100; ++i) loop.Resume([&notes] { notes += "."; });
    loop.RunResumed();
  });
  EXPECT_EQ(std::count(notes.begin(), notes.end(), '.'), 100);  // all of them, and without another call
  const size_t before = notes.find("new");
  EXPECT_GT(before, 0u);
  EXPECT_LE(before, 16u);
}

TEST(LoopsTest, AnyThreadMayResume) {
  Loops loops({.loops = 2});
  std::promise<bool> on_loop;
  loops[1].Resume([&on_loop] { on_loop.set_value(Loops::IsLoopThread()); });
  EXPECT_TRUE(on_loop.get_future().get());
  loops.Stop();
}

TEST(LoopsTest, AThreadKnowsWhichLoopItRuns) {
  Loops loops({.loops = 2});
  Loops others({.loops = 1});
  EXPECT_EQ(loops.OfThisThread(), nullptr);
  std::promise<bool> knows;
  asio::post(loops[1].context(),
             [&] { knows.set_value(loops.OfThisThread() == &loops[1] && others.OfThisThread() == nullptr); });
  EXPECT_TRUE(knows.get_future().get());
  loops.Stop();
  others.Stop();
}

}  // namespace
}  // namespace braid::wire
