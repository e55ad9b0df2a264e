// Names and types of columns, and dates in their three notations.
#include "cli/transfer/columns.h"

#include <gmock/gmock.h>

#include "base/testing/testing.h"
#include "client/handles.h"

namespace braid::transfer {
namespace {

using testing::HasSubstr;

std::string Typed(const char* column, std::string_view text) {
  const auto parsed = ParseColumn(column, true);
  if (!parsed.ok()) return std::string(parsed.error().message());
  client::Bson document;
  if (const Status status = AppendTyped(document.get(), "v", *parsed, text); !status.ok()) return "refused";
  char* json = bson_as_canonical_extended_json(document.get(), nullptr);
  std::string result = json;
  bson_free(json);
  return result.substr(8, result.size() - 10);  // { "v" : … }
}

TEST(ColumnsTest, EveryType) {
  EXPECT_EQ(Typed("v.auto()", "1.5"), "{ \"$numberDouble\" : \"1.5\" }");
  EXPECT_EQ(Typed("v.string()", "1.5"), "\"1.5\"");
  EXPECT_EQ(Typed("v.int32()", "-5"), "{ \"$numberInt\" : \"-5\" }");
  EXPECT_EQ(Typed("v.int32()", "3000000000"), "refused");
  EXPECT_EQ(Typed("v.int64()", "3000000000"), "{ \"$numberLong\" : \"3000000000\" }");
  EXPECT_EQ(Typed("v.double()", "1e3"), "{ \"$numberDouble\" : \"1000.0\" }");
  EXPECT_EQ(Typed("v.double()", "1e3x"), "refused");
  EXPECT_EQ(Typed("v.decimal()", "1.10"), "{ \"$numberDecimal\" : \"1.10\" }");
  EXPECT_EQ(Typed("v.boolean()", "TRUE"), "true");
  EXPECT_EQ(Typed("v.boolean()", "maybe"), "refused");
  for (const char* same : {"v.binary(hex)=666f6F", "v.binary(base64)=Zm9v", "v.binary(base32)=MZXW6==="}) {
    const std::string_view text = same;
    const size_t split = text.find('=');
    EXPECT_EQ(Typed(std::string(text.substr(0, split)).c_str(), text.substr(split + 1)),
              "{ \"$binary\" : { \"base64\" : \"Zm9v\", \"subType\" : \"00\" } }");
  }
  EXPECT_EQ(Typed("v.binary(hex)", "abc"), "refused");
}

TEST(ColumnsTest, AutoIsIntDoubleOrText) {
  const std::pair<const char*, const char*> cases[] = {
      {"0", "{ \"$numberInt\" : \"0\" }"},
      {"2147483648", "{ \"$numberLong\" : \"2147483648\" }"},
      {"9223372036854775808", "{ \"$numberDouble\" : \"9223372036854775808.0\" }"},
      {"", "\"\""},
      {" 1", "\" 1\""},
      {"1-2", "\"1-2\""}};
  for (const auto& [text, json] : cases) EXPECT_EQ(Typed("v.auto()", text), json) << text;
}

TEST(ColumnsTest, BadNamesSayWhatToWrite) {
  EXPECT_THAT(std::string(ParseColumn("age", true).error().message()), HasSubstr("name.type(argument)"));
  EXPECT_THAT(std::string(ParseColumn("age.number()", true).error().message()), HasSubstr("int32, int64, string"));
  EXPECT_THAT(std::string(ParseColumn("x.binary(octal)", true).error().message()), HasSubstr("base64, base32 or hex"));
  EXPECT_THAT(std::string(ParseColumn("x.date()", true).error().message()), HasSubstr("date_ms(yyyy-MM-dd)"));
  EXPECT_FALSE(ParseColumn("x.int32(5)", true).ok());
  for (const std::vector<std::string>& names :
       std::vector<std::vector<std::string>>{{"a", "a"}, {"a", "a.b"}, {"a.b", "a"}, {""}, {".a"}, {"a..b"}}) {
    EXPECT_FALSE(Columns::Make(names, false).ok()) << names[0];
  }
}

TEST(DateLayoutTest, ThreeNotationsOfTheSame) {
  using Notation = DateLayout::Notation;
  const int64_t expected = 1'136'214'245'678;  // 2006-01-02T15:04:05.678Z
  const struct {
    Notation notation;
    const char* layout;
    const char* text;
  } cases[] = {
      {Notation::kGo, "2006-01-02T15:04:05.000Z07:00", "2006-01-02T15:04:05.678Z"},
      {Notation::kGo, "2006-01-02T15:04:05.000Z07:00", "2006-01-02T17:34:05.678+02:30"},
      {Notation::kGo, "Mon Jan _2 03:04:05.000PM 2006", "Mon Jan  2 03:04:05.678PM 2006"},
      {Notation::kMs, "yyyy-MM-dd HH:mm:ss.fff", "2006-01-02 15:04:05.678"},
      {Notation::kMs, "d MMMM yyyy, hh:mm:ss.fff tt", "2 January 2006, 03:04:05.678 PM"},
      {Notation::kOracle, "YYYY-MM-DD HH24:MI:SS.FF3", "2006-01-02 15:04:05.678"},
      {Notation::kOracle, "DD-MON-YY HH:MI:SS.FF PM", "02-JAN-06 03:04:05.678 PM"},
  };
  for (const auto& one : cases) {
    const auto layout = DateLayout::Parse(one.layout, one.notation);
    ASSERT_OK(layout);
    EXPECT_EQ(layout->Read(one.text), expected) << one.layout;
  }
}

TEST(DateLayoutTest, RefusesWhatIsNoDate) {
  const auto layout = DateLayout::Parse("2006-01-02 15:04", DateLayout::Notation::kGo);
  ASSERT_OK(layout);
  for (const char* text :
       {"", "2006-02-30 10:00", "2006-13-01 10:00", "2006-01-01 24:00", "2006-01-01", "2006-01-01 10:00x"}) {
    EXPECT_EQ(layout->Read(text), std::nullopt) << text;
  }
  EXPECT_EQ(layout->Read("1969-12-31 23:59"), -60'000);
}

}  // namespace
}  // namespace braid::transfer
