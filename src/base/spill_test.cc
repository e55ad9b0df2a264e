#include "base/spill.h"

#include <vector>

#include "base/testing/testing.h"

namespace braid {
namespace {

TEST(SpillTest, GivesBackWhatWasWrittenInOrder) {
  const test::TemporaryDirectory directory;
  SpillSpace space(directory.path(), 256);
  const std::vector<std::string> records = {"", "a", std::string(700'000, 'b'), "c", std::string(300'000, 'd'), ""};
  {
    const auto file = SpillFile::Create(space, 1 << 20);
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(space.files(), 1u);
    EXPECT_EQ(space.bytes(), 1u << 20);
    for (const std::string& record : records) EXPECT_TRUE(file->Append(record));
    EXPECT_TRUE(file->Finish());
    EXPECT_TRUE(std::filesystem::is_empty(directory.path()));  // it has no name
    std::string_view record;
    for (const std::string& expected : records) {
      const Result<bool> more = file->Next(&record);
      ASSERT_OK(more);
      EXPECT_TRUE(*more);
      EXPECT_EQ(record, expected);
    }
    const Result<bool> more = file->Next(&record);
    ASSERT_OK(more);
    EXPECT_FALSE(*more);
  }
  EXPECT_EQ(space.files(), 0u);
  EXPECT_EQ(space.bytes(), 0u);
}

TEST(SpillTest, LeavesMostOfTheDisk) {
  const test::TemporaryDirectory directory;
  SpillSpace space(directory.path(), 256);
  const auto free = std::filesystem::space(directory.path()).available;
  EXPECT_EQ(SpillFile::Create(space, free / 2), nullptr);
  EXPECT_NE(SpillFile::Create(space, free / 100), nullptr);
  EXPECT_EQ(space.files(), 0u);
}

TEST(SpillTest, HasALimitOfFiles) {
  const test::TemporaryDirectory directory;
  SpillSpace space(directory.path(), 2);
  const auto first = SpillFile::Create(space, 1);
  auto second = SpillFile::Create(space, 1);
  EXPECT_EQ(SpillFile::Create(space, 1), nullptr);
  second.reset();
  EXPECT_NE(SpillFile::Create(space, 1), nullptr);
}

TEST(SpillTest, WithoutADirectoryNothingIsSpilled) {
  SpillSpace space("/nonexistent", 256);
  EXPECT_EQ(SpillFile::Create(space, 1), nullptr);
  EXPECT_EQ(space.files(), 0u);
}

}  // namespace
}  // namespace braid
