// Lines of files and of standard input, whatever their pieces, packing and ends.
#include "cli/transfer/lines.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <fstream>
#include <thread>

#include "base/strings.h"
#include "base/testing/testing.h"

namespace braid::transfer {
namespace {

using Texts = std::vector<std::string>;

class LinesTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& bytes) {
    const std::string path = (directory_.path() / "lines").string();
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  static std::string Packed(const std::string& bytes) {
    std::string packed(compressBound(bytes.size()) + 64, '\0');
    z_stream stream{};
    EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
  }
  struct Read {
    Texts lines;
    Status status;
  };
  static Read ReadAll(const std::string& path) {
    const auto lines = Lines::Open(path);
    if (!lines.ok()) return {.status = lines.error()};
    Read read;
    while (true) {
      const auto next = (*lines)->Next();
      if (!next.ok()) read.status = next.error();
      if (!next.ok() || next->empty()) return read;
      read.lines.insert(read.lines.end(), next->begin(), next->end());
    }
  }

  test::TemporaryDirectory directory_;
};

// Standard input is a pipe for the time of a test.
class StandardInput {
 public:
  StandardInput() : saved_(dup(STDIN_FILENO)) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    EXPECT_EQ(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    close(ends[0]);
    writer_ = ends[1];
  }
  ~StandardInput() {
    End();
    dup2(saved_, STDIN_FILENO);
    close(saved_);
  }
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;
  void Write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t written = write(writer_, bytes.data(), bytes.size());
      ASSERT_GT(written, 0);
      bytes.remove_prefix(static_cast<size_t>(written));
    }
  }
  void End() {
    if (writer_ >= 0) close(std::exchange(writer_, -1));
  }

 private:
  const int saved_;
  int writer_ = -1;
};

TEST_F(LinesTest, EndsOfEveryKindAndEmptyLines) {
  const Read read = ReadAll(Write("one\ntwo\r\n\n \t\r\nthree\r\n\r\n  four \nlast"));
  EXPECT_OK(read.status);
  EXPECT_EQ(read.lines, Texts({"one", "two", "three", "  four ", "last"}));
}

TEST_F(LinesTest, NothingAtAll) {
  for (const char* bytes : {"", "\n", "\r\n \n"}) {
    const Read read = ReadAll(Write(bytes));
    EXPECT_OK(read.status);
    EXPECT_TRUE(read.lines.empty());
  }
}

TEST_F(LinesTest, ZeroBytesAreKept) {
  const std::string bytes("a\0b\nc", 5);
  EXPECT_EQ(ReadAll(Write(bytes)).lines, Texts({std::string("a\0b", 3), "c"}));
}

// Lines of any length, across the pieces in which they are read, plain and packed.
TEST_F(LinesTest, ManyLinesPlainAndPacked) {
  Random random(test::Seed());
  Texts expected;
  std::string bytes;
  while (bytes.size() < 9'000'000) {
    const size_t length = random.Chance(1, 500) ? 1 + random.Below(600'000) : 1 + random.Below(300);
    expected.push_back(std::string(length, static_cast<char>('a' + random.Below(26))));
    bytes += expected.back() + (random.Chance(1, 2) ? "\n" : "\r\n");
  }
  for (const std::string& file : {bytes, Packed(bytes)}) {
    const Read read = ReadAll(Write(file));
    EXPECT_OK(read.status);
    EXPECT_TRUE(read.lines == expected) << read.lines.size() << " lines, expected " << expected.size();
  }
}

TEST_F(LinesTest, APackedFileThatWasCutOffIsAnErrorAfterItsLines) {
  std::string bytes;
  for (int i = 0; i < 100'000; ++i) bytes += StrCat("line ", i * 7919 % 100'000, "\n");
  const std::string packed = Packed(bytes);
  const Read read = ReadAll(Write(packed.substr(0, packed.size() / 2)));
  EXPECT_FALSE(read.status.ok());
  EXPECT_GT(read.lines.size(), 1000U);
  for (size_t i = 0; i < read.lines.size(); ++i) ASSERT_EQ(read.lines[i], StrCat("line ", i * 7919 % 100'000));
}

TEST_F(LinesTest, ALineOverTheLimit) {
  const std::string path = Write("first\n" + std::string((32 << 20) + (1 << 20), 'x') + "\nlast\n");
  const Read read = ReadAll(path);
  EXPECT_EQ(read.status.code(), Code::kBadValue);
  EXPECT_NE(read.status.message().find("a line is longer than"), std::string_view::npos) << read.status.message();
  EXPECT_NE(read.status.message().find(path), std::string_view::npos);
  EXPECT_EQ(read.lines, Texts({"first"}));
}

TEST_F(LinesTest, FilesThatCannotBeRead) {
  const Read missing = ReadAll((directory_.path() / "missing").string());
  EXPECT_NE(missing.status.message().find("missing: No such file or directory"), std::string_view::npos);
  const Read folder = ReadAll(directory_.path().string());
  EXPECT_EQ(folder.status.code(), Code::kBadValue);
  EXPECT_NE(folder.status.message().find("directory"), std::string_view::npos) << folder.status.message();
}

TEST_F(LinesTest, WhatIsAtHandIsGivenBeforeAPipeEnds) {
  StandardInput input;
  const auto lines = Lines::Open("-");
  ASSERT_OK(lines);
  const auto next = [&]() -> Texts {
    const auto got = (*lines)->Next();
    EXPECT_OK(got);
    return Texts(got->begin(), got->end());
  };
  input.Write("one\ntwo\nthr");
  EXPECT_EQ(next(), Texts({"one", "two"}));
  input.Write("ee\r");
  input.Write("\nfour");
  EXPECT_EQ(next(), Texts({"three"}));
  input.End();
  EXPECT_EQ(next(), Texts({"four"}));
  EXPECT_EQ(next(), Texts());
  EXPECT_EQ((*lines)->position(), 19U);
}

TEST_F(LinesTest, AFastPipeIsReadToItsEnd) {
  StandardInput input;
  std::thread writer([&] {
    for (int i = 0; i < 200'000; ++i) input.Write(StrCat("line number ", i, "\n"));
    input.End();
  });
  const Read read = ReadAll("-");
  writer.join();
  EXPECT_OK(read.status);
  ASSERT_EQ(read.lines.size(), 200'000U);
  EXPECT_EQ(read.lines.back(), "line number 199999");
}

TEST_F(LinesTest, MayBeLeftBeforeTheEnd) {
  StandardInput input;
  input.Write("one\n");
  const auto lines = Lines::Open("-");
  ASSERT_OK(lines);
  EXPECT_EQ((*lines)->Next()->size(), 1U);
}

}  // namespace
}  // namespace braid::transfer
