// JSON, CSV and TSV files: what they give, and that a broken document costs no more than itself.
#include <gmock/gmock.h>
#include <zlib.h>

#include <fstream>

#include "base/strings.h"
#include "base/testing/testing.h"
#include "cli/transfer/reader.h"

namespace braid::transfer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string Json(const bson_t* document) {
  char* text = bson_as_canonical_extended_json(document, nullptr);
  std::string json = text;
  bson_free(text);
  return json;
}

// "line: json" or "line! error" for each item; "! error" if the reader gives up.
std::vector<std::string> ReadAll(Reader& reader) {
  std::vector<std::string> all;
  while (true) {
    auto next = reader.Next();
    if (!next.ok()) {
      all.push_back(StrCat("! ", next.error().message()));
      return all;
    }
    if (!next->has_value()) return all;
    const Item& item = **next;
    all.push_back(item.error.ok() ? StrCat(item.line, ": ", Json(item.document.get()))
                                  : StrCat(item.line, "! ", item.error.message()));
  }
}

std::vector<std::string> ReadJson(std::string_view text) { return ReadAll(*NewJsonReader(Input::FromText(text))); }

std::vector<std::string> ReadTable(std::string_view text, const TableOptions& options) {
  auto reader = NewTableReader(Input::FromText(text), options);
  if (!reader.ok()) return {StrCat("! ", reader.error().message())};
  return ReadAll(**reader);
}

std::string A(int value) { return StrCat("{ \"a\" : { \"$numberInt\" : \"", value, "\" } }"); }

TEST(JsonReaderTest, LinesArraysAndWhatLiesBetween) {
  const std::vector<std::string> lines = {"1: " + A(1), "2: " + A(2)};
  EXPECT_EQ(ReadJson("{\"a\":1}\n{\"a\":2}\n"), lines);
  EXPECT_EQ(ReadJson("\xEF\xBB\xBF{\"a\":1}\r\n{\"a\":2}"), lines);
  EXPECT_EQ(ReadJson("[{\"a\":1},\n{\"a\":2}]"), lines);
  EXPECT_EQ(ReadJson("[{\"a\":1}\n,{\"a\":2}]\n\n"), lines);
  EXPECT_THAT(ReadJson("{\n\"a\":\n1}\n\n{\"a\":2}"), ElementsAre("1: " + A(1), "5: " + A(2)));
  EXPECT_THAT(ReadJson("{\"a\":1} {\"a\":2}"), ElementsAre("1: " + A(1), "1: " + A(2)));
  EXPECT_THAT(ReadJson(""), ElementsAre());
  EXPECT_THAT(ReadJson(" [ ] "), ElementsAre());
}

TEST(JsonReaderTest, BracketsInStringsDoNotCount) {
  EXPECT_THAT(ReadJson("{\"a\":\"}{\\\"[\"}\n{\"a\":2}"), ElementsAre("1: { \"a\" : \"}{\\\"[\" }", "2: " + A(2)));
}

TEST(JsonReaderTest, ABrokenLineCostsItself) {
  EXPECT_THAT(ReadJson("{\"a\":1}\n{\"a\":}\n{\"a\":3}"), ElementsAre("1: " + A(1), StartsWith("2! "), "3: " + A(3)));
  EXPECT_THAT(ReadJson("{\"a\":1\n{\"a\":2}\n"), ElementsAre(HasSubstr("1! the document has no end"), "2: " + A(2)));
  EXPECT_THAT(ReadJson("{\"a\":1,\n{\"a\":2}\n"), ElementsAre(HasSubstr("1! the document has no end"), "2: " + A(2)));
  EXPECT_THAT(ReadJson("{\"a\":[\n{\"a\":2}\n"), ElementsAre(StartsWith("1! "), "2: " + A(2)));
  EXPECT_THAT(ReadJson("{\"a\":\"x\n{\"a\":2}\n"), ElementsAre(HasSubstr("1! a string has no end"), "2: " + A(2)));
  EXPECT_THAT(ReadJson("{\"a\":[1}\n{\"a\":2}\n"), ElementsAre(HasSubstr("1! brackets"), "2: " + A(2)));
  EXPECT_THAT(ReadJson("nonsense\n{\"a\":2}\n17\n"),
              ElementsAre(HasSubstr("1! a document must start"), "2: " + A(2), StartsWith("3! ")));
}

TEST(JsonReaderTest, AnArrayWithoutEndIsSaid) {
  EXPECT_THAT(ReadJson("[{\"a\":1},"), ElementsAre("1: " + A(1), HasSubstr("! the file ends inside its array")));
}

TEST(TableReaderTest, QuotesLineEndsAndTypes) {
  EXPECT_THAT(
      ReadTable("a,b,c\r\n1,\"x, \"\"y\"\"\nz\",2.5\r\n-3000000000,,+7\n", {}),
      ElementsAre(
          "2: { \"a\" : { \"$numberInt\" : \"1\" }, \"b\" : \"x, \\\"y\\\"\\nz\", \"c\" : { \"$numberDouble\" : "
          "\"2.5\" } }",
          "4: { \"a\" : { \"$numberLong\" : \"-3000000000\" }, \"b\" : \"\", \"c\" : { \"$numberInt\" : \"7\" } }"));
}

TEST(TableReaderTest, DotsBlanksAndExtraValues) {
  TableOptions options;
  options.fields = {"p.x", "name", "p.y"};
  EXPECT_THAT(ReadTable("a,b,c,d\nonly\n", options),
              ElementsAre("1: { \"p\" : { \"x\" : \"a\", \"y\" : \"c\" }, \"name\" : \"b\", \"field3\" : \"d\" }",
                          "2: { \"p\" : { \"x\" : \"only\" } }"));
  options.ignore_blanks = true;
  EXPECT_THAT(ReadTable(",b,\n", options), ElementsAre("1: { \"name\" : \"b\" }"));
}

TEST(TableReaderTest, TabsKnowNoQuotes) {
  TableOptions options;
  options.separator = '\t';
  options.fields = {"a", "b"};
  EXPECT_THAT(ReadTable("\"x\t,y\n", options), ElementsAre("1: { \"a\" : \"\\\"x\", \"b\" : \",y\" }"));
}

TEST(TableReaderTest, ABrokenRowCostsItself) {
  TableOptions options;
  options.fields = {"a"};
  EXPECT_THAT(ReadTable("x\ny\"z\nw\n", options),
              ElementsAre("1: { \"a\" : \"x\" }", StartsWith("2! a quote inside"), "3: { \"a\" : \"w\" }"));
  EXPECT_THAT(ReadTable("\"x\nw\n", options), ElementsAre(StartsWith("1! a quote is opened"), "2: { \"a\" : \"w\" }"));
  EXPECT_THAT(ReadTable("\"x\"y\nw\n", options), ElementsAre(StartsWith("1! a quote must be"), "2: { \"a\" : \"w\" }"));
  EXPECT_THAT(ReadTable("\xFF\nw\n", options), ElementsAre("1! value 1 is not UTF-8", "2: { \"a\" : \"w\" }"));
}

TEST(TableReaderTest, BytesThatAreNotUtf8AreAnErrorOrLatin1) {
  const std::string text =
      "a\n\xA3"
      "5 caf\xE9\n\xC2\xA3"
      "5\n";
  EXPECT_THAT(ReadTable(text, {}), ElementsAre("2! value 1 is not UTF-8",
                                               "3: { \"a\" : \"\xC2\xA3"
                                               "5\" }"));
  EXPECT_THAT(ReadTable(text, {.latin1 = true}), ElementsAre("2: { \"a\" : \"\xC2\xA3"
                                                             "5 caf\xC3\xA9\" }",
                                                             "3: { \"a\" : \"\xC2\xA3"
                                                             "5\" }"));
}

TEST(TableReaderTest, TypesAndGrace) {
  TableOptions options;
  options.typed = true;
  options.fields = {"n.int32()", "d.date(2006-01-02)"};
  const std::string good =
      "{ \"n\" : { \"$numberInt\" : \"1\" }, \"d\" : { \"$date\" : { \"$numberLong\" : \"86400000\" } } }";
  EXPECT_THAT(ReadTable("1,1970-01-02\nx,1970-01-02\n", options),
              ElementsAre("1: " + good, HasSubstr("! line 2: column n: 'x' is not an int32; see --parseGrace")));
  options.grace = ParseGrace::kSkipRow;
  EXPECT_THAT(ReadTable("x,1970-01-02\n1,1970-01-02", options), ElementsAre(StartsWith("1! column n"), "2: " + good));
  options.grace = ParseGrace::kAutoCast;
  EXPECT_THAT(ReadTable("1,soon", options), ElementsAre("1: { \"n\" : { \"$numberInt\" : \"1\" }, \"d\" : \"soon\" }"));
  options.grace = ParseGrace::kSkipField;
  EXPECT_THAT(ReadTable("1,soon", options), ElementsAre("1: { \"n\" : { \"$numberInt\" : \"1\" } }"));
}

TEST(InputTest, GzipIsUnpackedAndDamageIsSaid) {
  const test::TemporaryDirectory directory;
  const std::string path = (directory.path() / "x.json.gz").string();
  gzFile file = gzopen(path.c_str(), "wb");
  std::string expected;
  for (int i = 0; i < 50'000; ++i) gzprintf(file, "{\"a\":%d}\n", i);
  gzclose(file);
  auto input = Input::Open(path);
  ASSERT_OK(input);
  const auto all = ReadAll(*NewJsonReader(*std::move(input)));
  ASSERT_EQ(all.size(), 50'000u);
  EXPECT_EQ(all.back(), "50000: " + A(49'999));

  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  input = Input::Open(path);
  ASSERT_OK(input);
  EXPECT_THAT(ReadAll(*NewJsonReader(*std::move(input))).back(), HasSubstr("! reading"));
  EXPECT_FALSE(Input::Open("/nonexistent/x").ok());
  EXPECT_FALSE(Input::Open("/tmp").ok());
}

}  // namespace
}  // namespace braid::transfer
