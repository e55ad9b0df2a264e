// Lines of files and of standard input, whatever their pieces, packing and ends.
#include "cli/transfer/lines.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

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
  static std::string PackedZstd(const std::string& bytes) {
    std::string packed(ZSTD_compressBound(bytes.size()), '\0');
    const size_t size = ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 3);
    EXPECT_EQ(ZSTD_isError(size), 0U);
    packed.resize(size);
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
  for (const std::string& file : {bytes, Packed(bytes), PackedZstd(bytes)}) {
    const Read read = ReadAll(Write(file));
    EXPECT_OK(read.status);
    EXPECT_TRUE(read.lines == expected) << read.lines.size() << " lines, expected " << expected.size();
  }
}

TEST_F(LinesTest, APackedFileThatWasCutOffIsAnErrorAfterItsLines) {
  std::string bytes;
  for (int i = 0; i < 100'000; ++i) bytes += StrCat("line ", i * 7919 % 100'000, "\n");
  for (const std::string& packed : {Packed(bytes), PackedZstd(bytes)}) {
    const Read read = ReadAll(Write(packed.substr(0, packed.size() / 2)));
    EXPECT_NE(read.status.message().find("cannot be unpacked: its end is missing"), std::string_view::npos)
        << read.status.message();
    EXPECT_GT(read.lines.size(), 1000U);
    for (size_t i = 0; i < read.lines.size(); ++i) ASSERT_EQ(read.lines[i], StrCat("line ", i * 7919 % 100'000));
  }
}

TEST_F(LinesTest, DamagedPackingIsAnError) {
  std::string packed = Packed(std::string(5000, 'x') + "\n");
  packed[packed.size() / 2] = static_cast<char>(packed[packed.size() / 2] ^ 0x55);
  const Read read = ReadAll(Write(packed));
  EXPECT_NE(read.status.message().find("cannot be unpacked"), std::string_view::npos) << read.status.message();
}

// Parts one after the other, as `cat` makes them, and padding behind the last one.
TEST_F(LinesTest, SeveralPackedParts) {
  EXPECT_EQ(ReadAll(Write(Packed("one\ntw") + Packed("") + Packed("o\n"))).lines, Texts({"one", "two"}));
  EXPECT_EQ(ReadAll(Write(PackedZstd("one\ntw") + PackedZstd("o\n"))).lines, Texts({"one", "two"}));
  const Read padded = ReadAll(Write(Packed("one\n") + std::string(600, '\0')));
  EXPECT_OK(padded.status);
  EXPECT_EQ(padded.lines, Texts({"one"}));
}

TEST_F(LinesTest, AByteOrderMarkIsLeftOut) {
  const std::string bytes = "\xEF\xBB\xBFone\n\xEF\xBB\xBFtwo\n";
  for (const std::string& file : {bytes, Packed(bytes), PackedZstd(bytes)}) {
    EXPECT_EQ(ReadAll(Write(file)).lines, Texts({"one", "\xEF\xBB\xBFtwo"}));
  }
  EXPECT_TRUE(ReadAll(Write("\xEF\xBB\xBF")).lines.empty());
}

TEST_F(LinesTest, StandardInputMayBePacked) {
  for (const bool zstd : {false, true}) {
    StandardInput input;
    const auto lines = Lines::Open("-");
    ASSERT_OK(lines);
    const std::string packed = zstd ? PackedZstd("one\ntwo\n") : Packed("one\ntwo\n");
    input.Write(packed.substr(0, 1));  // too little to tell
    input.Write(packed.substr(1));
    input.End();
    Texts read;
    for (auto next = (*lines)->Next(); next.ok() && !next->empty(); next = (*lines)->Next()) {
      read.insert(read.end(), next->begin(), next->end());
    }
    EXPECT_EQ(read, Texts({"one", "two"}));
  }
}

// Bytes that only begin like a packed file.
TEST_F(LinesTest, WhatIsNotPackedAfterAll) {
  for (const char* bytes : {"\x1F", "\x28", "\x28\xB5", "\x28\xB5\x2F", "\x1Fx", "(\n"}) {
    EXPECT_EQ(ReadAll(Write(bytes)).lines.size(), 1U) << bytes;
  }
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

TEST_F(LinesTest, LinesAreNumberedWithTheEmptyOnes) {
  StandardInput input;
  const auto lines = Lines::Open("-");
  ASSERT_OK(lines);
  input.Write("one\n\n \r\nfour\nfi");
  EXPECT_EQ((*lines)->Next()->size(), 2U);
  EXPECT_EQ((*lines)->numbers(), std::vector<uint64_t>({1, 4}));
  input.Write("ve\n\nseven");
  input.End();
  std::vector<uint64_t> numbers;
  while (!(*lines)->Next()->empty()) {
    numbers.insert(numbers.end(), (*lines)->numbers().begin(), (*lines)->numbers().end());
  }
  EXPECT_EQ(numbers, std::vector<uint64_t>({5, 7}));
}

TEST_F(LinesTest, CloseEndsANextThatWaits) {
  StandardInput input;  // nobody writes and nobody ends it
  const auto lines = Lines::Open("-");
  ASSERT_OK(lines);
  std::thread closer([&] { (*lines)->Close(); });
  const auto next = (*lines)->Next();
  closer.join();
  ASSERT_OK(next);
  EXPECT_TRUE(next->empty());
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
