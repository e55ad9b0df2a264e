// FailPoints: the modes of failCommand, which commands it meets and what it does.
#include "engine/commands/fail_points.h"

#include "base/testing/testing.h"
#include "engine/bson/json.h"

namespace braid::commands {
namespace {

using bson::J;

class FailPointsTest : public ::testing::Test {
 protected:
  void Set(const std::string& mode, const std::string& data = "{'failCommands': ['find'], 'errorCode': 11600}") {
    ASSERT_OK(
        points_.Configure(J("{'configureFailPoint': 'failCommand', 'mode': " + mode + ", 'data': " + data + "}")));
  }
  bool Fails(std::string_view command = "find", std::string_view application = "app") {
    return points_.Enter(command, application).has_value();
  }
  FailPoints points_;
};

TEST_F(FailPointsTest, OffAndAlwaysOn) {
  EXPECT_FALSE(Fails());
  Set("'alwaysOn'");
  EXPECT_TRUE(Fails());
  EXPECT_TRUE(Fails());
  EXPECT_FALSE(Fails("insert"));
  Set("'off'");
  EXPECT_FALSE(Fails());
}

TEST_F(FailPointsTest, TimesAndSkip) {
  Set("{'times': 2}");
  EXPECT_FALSE(Fails("insert")) << "does not count";
  EXPECT_TRUE(Fails());
  EXPECT_TRUE(Fails());
  EXPECT_FALSE(Fails());
  Set("{'skip': 2}");
  EXPECT_FALSE(Fails());
  EXPECT_FALSE(Fails());
  EXPECT_TRUE(Fails());
  EXPECT_TRUE(Fails());
}

TEST_F(FailPointsTest, CountsHowOftenItWasEntered) {
  Set("'alwaysOn'");
  EXPECT_TRUE(Fails());
  EXPECT_TRUE(Fails());
  EXPECT_EQ(*points_.Configure(J("{'configureFailPoint': 'failCommand', 'mode': 'off'}")), 2);
}

TEST_F(FailPointsTest, OnlyThatApplication) {
  Set("'alwaysOn'", "{'failCommands': ['find'], 'appName': 'one', 'closeConnection': true}");
  EXPECT_FALSE(Fails("find", "two"));
  EXPECT_TRUE(Fails("find", "one"));
}

TEST_F(FailPointsTest, WhatItDoes) {
  Set("'alwaysOn'",
      "{'failCommands': ['find'], 'errorCode': 91, 'errorLabels': ['A'], 'blockConnection': true, 'blockTimeMS': 5, "
      "'writeConcernError': {'code': 100}}");
  const std::optional<FailAction> action = points_.Enter("find", "");
  ASSERT_TRUE(action);
  EXPECT_EQ(action->error.code(), Code::kShutdownInProgress);
  EXPECT_EQ(action->block_millis, 5);
  EXPECT_FALSE(action->close_connection);
  EXPECT_EQ(action->error_labels->view().Count(), 1);
  EXPECT_TRUE(action->write_concern_error.view().Has("code"));
}

TEST_F(FailPointsTest, UnknownPointsAndModes) {
  EXPECT_EQ(points_.Configure(J("{'configureFailPoint': 'other', 'mode': 'off'}")).status().code(),
            Code::kCommandNotSupported);
  for (const std::string mode : {"'on'", "1", "{}"}) {
    const bson::Document command = J("{'configureFailPoint': 'failCommand', 'mode': " + mode + "}");
    EXPECT_EQ(points_.Configure(command).status().code(), Code::kBadValue) << mode;
  }
}

}  // namespace
}  // namespace braid::commands
