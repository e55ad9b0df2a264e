// Where a request goes on that has waited.
#include "engine/wire/session.h"

#include "engine/wire/testing/server.h"

namespace braid::wire {
namespace {

using SessionTest = test::ServerTest;

TEST_F(SessionTest, ARequestContinuesOnTheLoopThatLetItGoOn) {
  Start();
  constexpr const char* kThread = "{'thread': 1, '$db': 'd'}";
  auto waiter = Connect();
  auto waker = Connect();
  const int here = waker.Ask(kThread).Find("thread").AsInt32();
  ASSERT_NE(waiter.Ask(kThread).Find("thread").AsInt32(), here);  // working connections are spread evenly
  waiter.Send(test::Msg(test::Body(bson::J("{'park': 1, '$db': 'd'}"))));
  Eventually([this] { return handler_.parking == 1; });
  // One of these is on the waiter's loop, whose thread answers once the request has parked.
  auto beside = Connect();
  beside.Ask(kThread);
  auto another = Connect();
  another.Ask(kThread);
  waker.Ask("{'unpark': 1, '$db': 'd'}");
  EXPECT_EQ(waiter.Receive().Find("thread").AsInt32(), here);
}

}  // namespace
}  // namespace braid::wire
