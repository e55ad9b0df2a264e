// The guide: commands that a shell takes as they are, with the addresses in use.
#include "cli/demo/guide.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/strings.h"

namespace braid::cli::demo {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

// The lines that are commands of a program.
std::vector<std::string> CommandsOf(const std::string& guide, const std::string& program) {
  std::vector<std::string> commands;
  for (const std::string_view line : Split(guide, '\n')) {
    if (line.starts_with(StrCat("  ", program, " "))) commands.emplace_back(line);
  }
  return commands;
}

TEST(GuideTest, HasThreeCommandsOfEachKindWithTheAddressesInUse) {
  const std::string guide = Guide({.address = "127.0.0.1:27018", .http_address = "127.0.0.1:8081", .store = "/tmp/x"});
  EXPECT_THAT(guide, HasSubstr("\nOpen in a browser:  http://127.0.0.1:8081/\n"));
  const std::vector<std::string> shell = CommandsOf(guide, "mongosh");
  const std::vector<std::string> curl = CommandsOf(guide, "curl");
  ASSERT_EQ(shell.size(), 3);
  ASSERT_EQ(curl.size(), 3);
  for (const std::string& line : shell) EXPECT_THAT(line, HasSubstr("mongodb://127.0.0.1:27018/"));
  for (const std::string& line : curl) EXPECT_THAT(line, HasSubstr("'http://127.0.0.1:8081/v1/"));
  // What is between the quotes has none itself.
  for (const auto& lines : {shell, curl}) {
    for (const std::string& line : lines) EXPECT_EQ(std::count(line.begin(), line.end(), '\''), 2) << line;
  }
}

TEST(GuideTest, SaysWhatBecomesOfTheStoreAndWhichPortsWereTaken) {
  GuideInput input{.address = "a:1", .http_address = "a:2", .store = "/tmp/x", .remarks = {"Port 8080 is in use."}};
  EXPECT_THAT(Guide(input), HasSubstr("a store that is removed at the end (/tmp/x).\nPort 8080 is in use.\n"));
  EXPECT_THAT(Guide(input), EndsWith("Stop with Ctrl-C; --store DIR would keep the data.\n"));
  input.temporary = false;
  EXPECT_THAT(Guide(input), HasSubstr("a store that stays (/tmp/x)."));
  EXPECT_THAT(Guide(input), EndsWith("Stop with Ctrl-C.\n"));
}

}  // namespace
}  // namespace braid::cli::demo
