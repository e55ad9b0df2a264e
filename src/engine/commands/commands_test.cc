// The tables of commands: sorted, complete, and never two answers for one name.
#include <algorithm>

#include "base/testing/testing.h"
#include "engine/commands/command.h"

namespace braid::commands {
namespace {

TEST(CommandTableTest, SortedAndFound) {
  EXPECT_TRUE(std::ranges::is_sorted(AllCommands(), {}, &Command::name));
  for (const Command* command : AllCommands()) EXPECT_EQ(FindCommand(command->name), command) << command->name;
  EXPECT_EQ(FindCommand("aaa"), nullptr);
  EXPECT_EQ(FindCommand("zzz"), nullptr);
  EXPECT_EQ(FindCommand(""), nullptr);
  EXPECT_EQ(FindCommand("Find"), nullptr);  // names are case-sensitive
}

TEST(CommandTableTest, EveryCommandRunsAndIsDescribed) {
  for (const Command* command : AllCommands()) {
    EXPECT_NE(command->run, nullptr) << command->name;
    EXPECT_TRUE(command->help.ends_with('.')) << command->name << ": a sentence of help";
    EXPECT_TRUE((command->flags & kRetryable) == 0 || (command->flags & kWrites) != 0) << command->name;
  }
}

TEST(CommandTableTest, RefusedAreSortedAndNotSupportedAsWell) {
  EXPECT_TRUE(std::ranges::is_sorted(RefusedCommands(), {}, &RefusedCommand::name));
  for (const RefusedCommand& refused : RefusedCommands()) {
    EXPECT_EQ(FindRefusedCommand(refused.name), &refused) << refused.name;
    EXPECT_EQ(FindCommand(refused.name), nullptr) << refused.name;
    EXPECT_FALSE(refused.reason.empty()) << refused.name;
  }
  EXPECT_EQ(FindRefusedCommand("find"), nullptr);
}

}  // namespace
}  // namespace braid::commands
