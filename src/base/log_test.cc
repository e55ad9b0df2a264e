// The log's lines: none can pass for two, and a reader that stalls stops nobody.
#include "base/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "base/descriptors.h"
#include "base/log_writer.h"
#include "base/seldom.h"
#include "base/strings.h"
#include "base/testing/testing.h"

namespace braid::log {
namespace {

TEST(LogTest, ControlCharactersAndBrokenUtf8AreEscaped) {
  EXPECT_EQ(OneLine("as it is: é日😀"), "as it is: é日😀");
  EXPECT_EQ(OneLine("a\n2026 info forged\r\t\x1b[31m\x7f"), "a\\n2026 info forged\\r\\t\\x1b[31m\\x7f");
  EXPECT_EQ(OneLine(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(OneLine("\xff\xc3 \xe6\x97"), "\\xff\\xc3 \\xe6\\x97");
  EXPECT_EQ(OneLine("\xc2\x85"), "\\xc2\\x85");  // a new line of Latin-1
}

struct Pipe {
  Pipe() { EXPECT_EQ(pipe(ends), 0); }
  ~Pipe() {
    CloseReader();
    close(ends[1]);
  }
  void CloseReader() {
    if (ends[0] >= 0) close(ends[0]);
    ends[0] = -1;
  }
  std::string ReadUntil(const std::string& last) const {
    std::string text;
    char bytes[4096];
    while (!text.ends_with(last)) {
      const ssize_t got = read(ends[0], bytes, sizeof(bytes));
      if (got <= 0) break;
      text.append(bytes, static_cast<size_t>(got));
    }
    return text;
  }
  int ends[2] = {-1, -1};
};

std::string Dropped(uint64_t count) { return StrCat("dropped ", count, "\n"); }

TEST(LogWriterTest, AReaderThatStallsStopsNobodyAndIsToldWhatItMissed) {
  const Pipe pipe;
  LogWriter writer(pipe.ends[1], Dropped);
  const size_t count = LogWriter::kLinesMax + 10'000;  // more than the queue and the pipe hold
  for (size_t i = 0; i < count; ++i) writer.Push(StrCat("line ", i, " of some length, so that the pipe is full\n"));
  const uint64_t dropped = writer.dropped();
  EXPECT_GT(dropped, 0);
  writer.Push("last\n");
  const std::string text = pipe.ReadUntil("last\n");
  std::istringstream lines(text);
  uint64_t told = 0, written = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("dropped ")) {
      told += std::stoull(line.substr(8));
    } else {
      ++written;
    }
  }
  EXPECT_EQ(told, writer.dropped());
  EXPECT_EQ(told + written, count + 1);
}

TEST(LogWriterTest, LongLinesDoNotFillTheMemory) {
  const Pipe pipe;
  LogWriter writer(pipe.ends[1], Dropped);
  for (int i = 0; i < 10; ++i) writer.Push(std::string(1 << 20, 'x') + "\n");
  EXPECT_GE(writer.dropped(), 10 - LogWriter::kBytesMax / (1 << 20) - 1);
}

TEST(LogWriterTest, AReaderThatIsGoneIsNoSignal) {
  Pipe pipe;
  LogWriter writer(pipe.ends[1], Dropped);
  pipe.CloseReader();
  writer.Push("a\n");
  writer.Push("b\n");
  writer.Flush(std::chrono::seconds(60));
  EXPECT_EQ(writer.dropped(), 2);
}

TEST(LogWriterTest, AFileThatWasMovedAwayIsOpenedAnew) {
  const test::TemporaryDirectory directory;
  const auto path = directory.path() / "log";
  const auto content = [](const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  };
  LogWriter writer(STDERR_FILENO, Dropped);
  ASSERT_TRUE(writer.Open(path.string()).ok());
  writer.Push("one\n");
  writer.Flush(std::chrono::seconds(60));
  std::filesystem::rename(path, directory.path() / "old");
  ASSERT_TRUE(writer.Open(path.string()).ok());
  writer.Push("two\n");
  writer.Flush(std::chrono::seconds(60));
  EXPECT_FALSE(writer.Open((directory.path() / "nosuch" / "log").string()).ok());
  writer.Push("three\n");
  writer.Flush(std::chrono::seconds(60));
  EXPECT_EQ(content(directory.path() / "old"), "one\n");
  EXPECT_EQ(content(path), "two\nthree\n");
}

TEST(LogTest, JsonHasOneObjectPerLine) {
  const test::TemporaryDirectory directory;
  const std::string path = (directory.path() / "log").string();
  Init(Level::kInfo);
  ASSERT_TRUE(OpenFile(path).ok());
  SetFormat(Format::kJson);
  info("a \"quoted\" \\ line\nand {}", "more");
  const Attribute attributes[] = {{"n", 5}, {"text", std::string("say \"x\"\x1b")}};
  Event(Level::kWarning, "part", "it happened", attributes);
  Flush();
  SetFormat(Format::kText);
  Event(Level::kWarning, "part", "it happened", attributes);
  Flush();
  std::ifstream file(path);
  std::string line;
  const auto behind_time = [&] {
    std::getline(file, line);
    return line.substr(line.find(R"(",)") + 2);
  };
  EXPECT_EQ(behind_time(),
            R"("level":"info","component":"server","message":"a \"quoted\" \\ line\\nand more","attributes":{}})");
  EXPECT_TRUE(line.starts_with(R"({"t":"2)"));
  EXPECT_EQ(behind_time(), R"("level":"warning","component":"part","message":"it happened",)"
                           R"("attributes":{"n":5,"text":"say \"x\"\\x1b"}})");
  std::getline(file, line);
  EXPECT_TRUE(line.ends_with(R"(warning it happened n=5 text="say \"x\"\\x1b")")) << line;
}

TEST(SeldomTest, SaysHowOftenAfterAPause) {
  using std::chrono::seconds;
  Seldom seldom(seconds(10));
  const Seldom::Clock::time_point start{seconds(1000)};
  EXPECT_EQ(seldom.Count(start), 1);
  EXPECT_EQ(seldom.Count(start + seconds(1)), 0);
  EXPECT_EQ(seldom.Count(start + seconds(9)), 0);
  EXPECT_EQ(seldom.Count(start + seconds(10)), 3);
}

TEST(DescriptorsTest, ConnectionsDoNotTakeTheStoresShare) {
  for (const uint64_t limit : {64, 256, 1024, 4096, 1 << 20}) {
    const DescriptorShares shares = ShareDescriptors(limit);
    EXPECT_LT(shares.store + shares.spilled + shares.connections, limit);
    EXPECT_GE(shares.store, std::min<uint64_t>(limit / 2, 8192));
  }
  EXPECT_EQ(ShareDescriptors(64).connections, 0);
  EXPECT_EQ(ShareDescriptors(~uint64_t{0}).limit, uint64_t{1} << 20);
}

}  // namespace
}  // namespace braid::log
