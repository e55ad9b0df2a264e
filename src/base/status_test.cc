#include "braid/status.h"

#include "base/testing/testing.h"

namespace braid {
namespace {

Result<int> Half(int n) {
  if (n % 2 != 0) return Status(Code::kBadValue, "odd");
  return n / 2;
}
Result<int> Quarter(int n) {
  BRAID_TRY(const int half, Half(n));
  BRAID_TRY(const int quarter, Half(half));
  return quarter;
}
Status Check(int n) {
  BRAID_CHECK_OK(Half(n));
  return Status();
}

TEST(StatusTest, CarriesCodeMessageAndDetails) {
  EXPECT_TRUE(Status().ok());
  const Status status(Code::kWriteConflict, "again");
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.code(), Code::kWriteConflict);
  EXPECT_EQ(status.message(), "again");
  EXPECT_EQ(status.details(), "");
  EXPECT_EQ(status.WithDetails("bytes").details(), "bytes");
  EXPECT_EQ(status.WithDetails("bytes").code(), Code::kWriteConflict);
  const Status caused = status.WithDetails("bytes").CausedBy("outer");
  EXPECT_EQ(caused.message(), "outer :: caused by :: again");
  EXPECT_EQ(caused.details(), "bytes");
}

TEST(StatusTest, NamesOfCodes) {
  EXPECT_EQ(CodeName(Code::kBadValue), "BadValue");
  EXPECT_EQ(CodeName(Location(28765)), "Location28765");
  EXPECT_TRUE(IsRetryable(Code::kWriteConflict));
  EXPECT_FALSE(IsRetryable(Code::kBadValue));
  EXPECT_FALSE(IsRetryable(Location(28765)));
}

TEST(StatusTest, ErrorsPassThroughTry) {
  EXPECT_EQ(Quarter(8).value(), 2);
  EXPECT_EQ(Quarter(6).status().message(), "odd");
  EXPECT_EQ(Quarter(5).error().code(), Code::kBadValue);
  EXPECT_EQ(Quarter(5).value_or(-1), -1);
  EXPECT_TRUE(Check(2).ok());
  EXPECT_EQ(Check(1).code(), Code::kBadValue);
}

}  // namespace
}  // namespace braid
