// Documents: the bytes are those that libbson would have written.
#include "client/documents.h"

#include <gmock/gmock.h>

#include <limits>

#include "base/testing/testing.h"
#include "client/handles.h"

namespace braid::client {
namespace {

std::string_view BytesOf(const bson_t* document) {
  return {reinterpret_cast<const char*>(bson_get_data(document)), document->len};
}

bson_decimal128_t DecimalOf(const char* text) {
  bson_decimal128_t value{};
  EXPECT_TRUE(bson_decimal128_from_string(text, &value));
  return value;
}

template <typename Fields>
void AppendEveryType(Fields& fields) {
  fields.Text("text", "a").Text("", "").Text("long", std::string(10'000, 'x'));
  fields.Integer("least", std::numeric_limits<int64_t>::min()).Integer("one", 1).Date("date", -1);
}

TEST(DocumentsTest, EveryTypeIsWrittenAsByTheLibrary) {
  const bson_decimal128_t price = DecimalOf("-9.50");
  Bson expected;
  AppendEveryType(expected);
  BSON_APPEND_DECIMAL128(expected.get(), "price", &price);
  Documents documents;
  documents.Begin();
  AppendEveryType(documents);
  documents.Decimal("price", price);
  documents.End();
  ASSERT_EQ(documents.size(), 1u);
  EXPECT_EQ(documents[0], BytesOf(expected.get()));
  EXPECT_TRUE(bson_validate(documents.All().front(), BSON_VALIDATE_UTF8, nullptr));
}

TEST(DocumentsTest, DocumentsWithinDocumentsAreClosedFromTheInside) {
  Bson inner;
  inner.Integer("a", 1);
  Bson outer;
  outer.Document("inner", inner).Document("empty", Bson()).Text("last", "z");
  Documents documents;
  documents.Begin();
  documents.Open("inner").Integer("a", 1).Close();
  documents.Open("empty").Close();
  documents.Text("last", "z");
  documents.End();
  EXPECT_EQ(documents[0], BytesOf(outer.get()));
}

TEST(DocumentsTest, ManyStandSideBySide) {
  constexpr int64_t kCount = 1000;
  Documents documents;
  for (int round = 0; round < 2; ++round) {
    documents.Clear();
    size_t bytes = 0;
    for (int64_t i = 0; i < kCount; ++i) {
      documents.Begin();
      documents.Integer("i", i).Text("text", std::string(static_cast<size_t>(i % 7), 'x'));
      documents.End();
      bytes += documents[static_cast<size_t>(i)].size();
    }
    EXPECT_EQ(documents.bytes(), bytes);
    const std::vector<const bson_t*> all = documents.All();
    ASSERT_EQ(all.size(), static_cast<size_t>(kCount));
    for (int64_t i = 0; i < kCount; ++i) {
      Bson expected;
      expected.Integer("i", i).Text("text", std::string(static_cast<size_t>(i % 7), 'x'));
      EXPECT_EQ(BytesOf(all[static_cast<size_t>(i)]), BytesOf(expected.get()));
    }
  }
}

}  // namespace
}  // namespace braid::client
