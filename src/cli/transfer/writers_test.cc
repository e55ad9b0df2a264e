// What export writes: rows of CSV, and JSON over several lines.
#include <gmock/gmock.h>

#include "base/testing/testing.h"
#include "cli/transfer/exporter.h"
#include "cli/transfer/importer.h"
#include "cli/transfer/progress.h"
#include "cli/transfer/reader.h"

namespace braid::transfer {
namespace {

std::string Row(const char* json, const std::vector<std::string>& paths) {
  const auto document = client::ParseJson(json);
  EXPECT_TRUE(document.ok()) << json;
  std::string row;
  AppendCsvRow(row, document->get(), paths);
  return row;
}

TEST(CsvRowTest, PathsGoInside) {
  const char* document = R"({"a": {"b": [10, {"c": "x"}]}, "z": null})";
  EXPECT_EQ(Row(document, {"a.b.1.c", "a.b.0", "missing", "z"}), "x,10,,\n");
  EXPECT_EQ(Row(document, {"a.b"}), "\"[ 10, { \"\"c\"\" : \"\"x\"\" } ]\"\n");
  EXPECT_EQ(Row(document, {"missing"}), "\"\"\n");
}

TEST(CsvRowTest, TypesAsText) {
  EXPECT_EQ(Row(R"({"v": {"$oid": "0123456789abcdef01234567"}})", {"v"}), "ObjectId(0123456789abcdef01234567)\n");
  EXPECT_EQ(Row(R"({"v": {"$date": "2020-01-02T03:04:05.006Z"}})", {"v"}), "2020-01-02T03:04:05.006Z\n");
  EXPECT_EQ(Row(R"({"v": {"$numberLong": "9007199254740993"}})", {"v"}), "9007199254740993\n");
  EXPECT_EQ(Row(R"({"v": {"$numberDecimal": "1.10"}})", {"v"}), "1.10\n");
  EXPECT_EQ(Row(R"({"v": 0.1})", {"v"}), "0.1\n");
  EXPECT_EQ(Row(R"({"v": true})", {"v"}), "true\n");
}

// Whatever text goes out comes in again.
TEST(CsvRowTest, AnyTextReadsBack) {
  Random random(test::Seed());
  for (int i = 0; i < 2000; ++i) {
    std::string text = "t";
    for (uint64_t n = random.Below(12); n > 0; --n) text += "a,\"\n\r \t;"[random.Below(8)];
    std::string file = "x,";
    AppendCsvValue(file, text);
    file += ",y\n";
    TableOptions options;
    options.fields = {"a", "b", "c"};
    auto reader = NewTableReader(Input::FromText(file), options);
    ASSERT_OK(reader);
    const auto item = (*reader)->Next();
    ASSERT_TRUE(item.ok() && item->has_value() && (*item)->error.ok()) << file;
    bson_iter_t value;
    ASSERT_TRUE(bson_iter_init_find(&value, (*item)->document.get(), "b"));
    ASSERT_EQ(bson_iter_utf8(&value, nullptr), text);
  }
}

TEST(IndentTest, SpreadsAndKeepsStrings) {
  EXPECT_EQ(Indent(R"({ "a" : [ 1, { } ], "b" : "x, {\"y\"} : z", "c" : [  ] })"),
            "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": \"x, {\\\"y\\\"} : z\",\n  \"c\": []\n}");
}

TEST(WriteConcernTest, ThreeWaysToWriteIt) {
  EXPECT_EQ(mongoc_write_concern_get_w(ParseWriteConcern("majority")->get()), MONGOC_WRITE_CONCERN_W_MAJORITY);
  EXPECT_EQ(mongoc_write_concern_get_w(ParseWriteConcern("1")->get()), 1);
  const auto concern = ParseWriteConcern(R"({"w": 1, "j": true, "wtimeout": 50})");
  ASSERT_OK(concern);
  EXPECT_TRUE(mongoc_write_concern_get_journal(concern->get()));
  EXPECT_EQ(mongoc_write_concern_get_wtimeout_int64(concern->get()), 50);
  EXPECT_FALSE(ParseWriteConcern("most").ok());
  EXPECT_FALSE(ParseWriteConcern(R"({"x": 1})").ok());
}

TEST(BytesTest, Units) {
  EXPECT_EQ(Bytes(0), "0 B");
  EXPECT_EQ(Bytes(1536), "1.5 KB");
  EXPECT_EQ(Bytes(uint64_t{3} << 30), "3.0 GB");
}

}  // namespace
}  // namespace braid::transfer
