// Configuration files: what they set, what the command line keeps, what is refused and how it is said.
#include "cli/config.h"

#include <gmock/gmock.h>

#include <CLI/CLI.hpp>
#include <fstream>

#include "base/testing/testing.h"

namespace braid::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ConfigTest : public testing::Test {
 protected:
  ConfigTest() {
    app_.add_option("--port", port_)->check(CLI::Range(0, 65535));
    app_.add_option("--bind", bind_);
    app_.add_option("--cache-size", cache_)->transform(CLI::AsSizeValue(false));
    app_.add_flag("--test-commands", test_commands_);
    AddConfigOption(app_);
  }
  Status Read(const std::string& toml, const std::string& arguments = "") {
    const std::string path = (directory_.path() / "braid.toml").string();
    std::ofstream(path) << toml;
    app_.parse(arguments + " --config " + path);
    return ApplyConfig(app_);
  }

  test::TemporaryDirectory directory_;
  CLI::App app_{"test", "serve"};
  int port_ = 1;
  std::vector<std::string> bind_ = {"default"};
  uint64_t cache_ = 2;
  bool test_commands_ = false;
};

TEST_F(ConfigTest, SetsEveryKind) {
  ASSERT_OK(Read("port = 27018\nbind = ['127.0.0.1', '::1']\ncache-size = '1GB'\ntest-commands = true\n"));
  EXPECT_EQ(port_, 27018);
  EXPECT_THAT(bind_, ElementsAre("127.0.0.1", "::1"));
  EXPECT_EQ(cache_, 1u << 30);
  EXPECT_TRUE(test_commands_);
}

TEST_F(ConfigTest, CommandLineGoesFirst) {
  ASSERT_OK(Read("port = 27018\nbind = 'x'", "--port 5"));
  EXPECT_EQ(port_, 5);
  EXPECT_THAT(bind_, ElementsAre("x"));
}

TEST_F(ConfigTest, NoFileNoChange) {
  app_.parse("");
  ASSERT_OK(ApplyConfig(app_));
  EXPECT_EQ(port_, 1);
}

TEST_F(ConfigTest, ErrorsNameLineAndKey) {
  const Status unknown = Read("port = 1\npotr = 2");
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("braid.toml line 2: potr: unknown key"));
}

TEST_F(ConfigTest, ValuesAreChecked) {
  EXPECT_THAT(std::string(Read("port = 70000").message()), HasSubstr("line 1: port: "));
}

TEST_F(ConfigTest, NoTablesNoFractions) {
  EXPECT_FALSE(Read("port = 1.5").ok());
  EXPECT_FALSE(Read("[port]\na = 1").ok());
  EXPECT_FALSE(Read("config = 'other.toml'").ok());
}

TEST_F(ConfigTest, OptionsCanBeGivenAgain) {
  ASSERT_OK(Read("port = 7\ncache-size = '1KB'", "--bind a --bind b --test-commands"));
  const GivenOptions given = OptionsGiven(app_);
  EXPECT_EQ(given.size(), 5u);  // with --config
  CLI::App other("test", "serve");
  std::vector<std::string> bind;
  int port = 0;
  uint64_t cache = 0;
  bool test_commands = false;
  other.add_option("--port", port);
  other.add_option("--bind", bind);
  other.add_option("--cache-size", cache)->transform(CLI::AsSizeValue(false));
  other.add_flag("--test-commands", test_commands);
  AddConfigOption(other);
  ASSERT_OK(GiveOptions(other, given));
  EXPECT_EQ(port, 7);
  EXPECT_EQ(cache, 1024u);
  EXPECT_TRUE(test_commands);
  EXPECT_THAT(bind, ElementsAre("a", "b"));
  EXPECT_EQ(OptionsGiven(other), given);
}

TEST_F(ConfigTest, BrokenAndMissingFiles) {
  EXPECT_THAT(std::string(Read("port = ").message()), HasSubstr("braid.toml line 1"));
  app_.parse("--config /nonexistent/braid.toml");
  EXPECT_FALSE(ApplyConfig(app_).ok());
}

}  // namespace
}  // namespace braid::cli
