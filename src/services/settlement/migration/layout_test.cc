// Old tables as others have made them, read by a mapping (C6).
#include "services/settlement/migration/old_table.h"

#include <gmock/gmock.h>

#include "services/settlement/migration/testing.h"

namespace braid::settlement::migration {
namespace {

using ::testing::HasSubstr;

std::string WhyNoMapping(std::string_view json) {
  const auto mapping = ParseMapping(json);
  return mapping.ok() ? "it is one" : std::string(mapping.error().message());
}

TEST(OldMappingTest, WhatIsLeftOutIsAsItWas) {
  EXPECT_EQ(ParseMapping("{}")->layout, OldLayout());
  const auto mapping = ParseMapping(R"({"collection": "t", "sequence": "n", "created_at": null, "form": "text"})");
  ASSERT_OK(mapping);
  EXPECT_EQ(mapping->collection, "t");
  OldLayout expected;
  expected.sequence = "n";
  expected.created_at.clear();
  expected.form = OldLayout::Form::kText;
  EXPECT_EQ(mapping->layout, expected);
  EXPECT_EQ(ParseMapping(mapping->layout.ToJson())->layout, expected);
}

TEST(OldMappingTest, WhatIsNoMappingIsNamed) {
  EXPECT_THAT(WhyNoMapping("["), HasSubstr("not a JSON object"));
  EXPECT_THAT(WhyNoMapping(R"({"seq": "n"})"), HasSubstr("there is no seq"));
  EXPECT_THAT(WhyNoMapping(R"({"sequence": 1})"), HasSubstr("sequence is not the name of a field"));
  EXPECT_THAT(WhyNoMapping(R"({"sequence": "a.b"})"), HasSubstr("is not the name of a field"));
  EXPECT_THAT(WhyNoMapping(R"({"sequence": null})"), HasSubstr("sequence and input must have a field"));
  EXPECT_THAT(WhyNoMapping(R"({"sequence": "hash"})"), HasSubstr("two values have the field hash"));
  EXPECT_THAT(WhyNoMapping(R"({"hash": null})"), HasSubstr("both have a field, or both none"));
  EXPECT_THAT(WhyNoMapping(R"({"output": null})"), HasSubstr("give output, or order_update"));
  EXPECT_THAT(WhyNoMapping(R"({"trades": "t"})"), HasSubstr("must have a field each"));
  EXPECT_THAT(WhyNoMapping(R"({"form": "xml"})"), HasSubstr("form is neither"));
  EXPECT_THAT(WhyNoMapping(R"({"form": "document"})"), HasSubstr("documents have no bytes to hash"));
  EXPECT_THAT(WhyNoMapping(R"({"hash_function": "md5"})"), HasSubstr("neither sha256 nor unknown"));
}

class OldLayoutTest : public MigrationStoreTest {
 protected:
  /// A table that others have filled, and the model of it.
  void Fill(int64_t count, const std::function<void(client::Bson&, const Output&)>& append) {
    for (int64_t i = 1; i <= count; ++i) {
      Output output = generator_.Next();
      output.output_seq = 3 * i;
      model_.push_back(EncodePayload(output));
      client::Bson document;
      append(document, output);
      InsertInto(old_table_, document);
    }
  }
  /// From the table as it is to the chains, with writes in every phase.
  void ExpectMigrated() {
    ExpectModel();
    const auto writer = OpenWriter();
    Write(*writer, 20);
    ASSERT_OK(OpenMigrator()->Run());
    Write(*writer, 20);
    ExpectModel();
    ASSERT_OK(OpenMigrator()->Rollback());
    Write(*writer, 20);
    ExpectModel();
    ASSERT_OK(OpenMigrator()->Run());
    ASSERT_OK(OpenMigrator()->Switch());
    Write(*writer, 20);
    ExpectModel();
    ASSERT_OK(OpenMigrator()->Drop());
    Write(*writer, 20);
    ExpectModel();
  }
  static void AppendJson(client::Bson& document, const char* name, const std::string& json) {
    const client::BsonPtr value(
        bson_new_from_json(reinterpret_cast<const uint8_t*>(json.data()), static_cast<ssize_t>(json.size()), nullptr));
    ASSERT_NE(value, nullptr);
    bson_append_document(document.get(), name, -1, value.get());
  }
};
INSTANTIATE_ON_STORES(OldLayoutTest);

TEST_P(OldLayoutTest, OtherNamesTextAndUnknownHashes) {
  old_table_ = "ledger";
  layout_ = ParseMapping(R"({"sequence": "n", "prev_hash": "before", "hash": "own", "input": "in", "output": "out",
                             "created_at": "at", "form": "text", "hash_function": "unknown"})")
                ->layout;
  int64_t before = 0;
  Fill(50, [&](client::Bson& document, const Output& output) {
    const int64_t hash = output.output_seq * 1'000'003;  // made by another program in its own way
    document.Double("n", static_cast<double>(output.output_seq)).Integer("before", before).Integer("own", hash);
    document.Text("in", output.input).Text("out", EncodeOutputData(output)).Date("at", 1).Text("more", "is not read");
    before = hash;
  });
  ExpectMigrated();
}

TEST_P(OldLayoutTest, DocumentsWithoutHashes) {
  old_table_ = "ledger";
  layout_ =
      ParseMapping(R"({"sequence": "n", "prev_hash": null, "hash": null, "created_at": null, "form": "document"})")
          ->layout;
  Fill(50, [&](client::Bson& document, const Output& output) {
    document.Integer("n", output.output_seq);
    AppendJson(document, "input_data", output.input);
    AppendJson(document, "output_data", EncodeOutputData(output));
  });
  ExpectMigrated();
}

TEST_P(OldLayoutTest, PartsInFieldsOfTheirOwn) {
  old_table_ = "ledger";
  layout_ = ParseMapping(R"({"prev_hash": null, "hash": null, "input": "input", "order_update": "order",
                             "trades": "fills", "balance_events": "changes"})")
                ->layout;
  Fill(50, [&](client::Bson& document, const Output& output) {
    document.Integer("_id", output.output_seq).Date("created_at", 5);
    AppendJson(document, "input", output.input);
    client::Bson whole;
    AppendJson(whole, "w", EncodeOutputData(output));
    for (const auto& [from, to] : {std::pair("w.order_update", "order"), std::pair("w.trades", "fills"),
                                   std::pair("w.balance_events", "changes")}) {
      bson_iter_t root;
      bson_iter_t part;
      ASSERT_TRUE(bson_iter_init(&root, whole.get()) && bson_iter_find_descendant(&root, from, &part));
      bson_append_iter(document.get(), to, -1, &part);
    }
  });
  ExpectMigrated();
}

TEST_P(OldLayoutTest, AWrongLinkASecondOutputAndAnotherMappingAreNamed) {
  old_table_ = "ledger";
  layout_ = ParseMapping(R"({"sequence": "n", "hash_function": "unknown", "form": "text"})")->layout;
  int64_t before = 0;
  Fill(5, [&](client::Bson& document, const Output& output) {
    document.Integer("_id", output.output_seq + 100).Integer("n", output.output_seq);
    document.Integer("prev_hash", before).Integer("hash", output.output_seq + 7).Date("created_at", 1);
    document.Text("input_data", output.input).Text("output_data", EncodeOutputData(output));
    before = output.output_seq + 7;
  });
  ASSERT_OK(OpenMigrator()->Preflight());
  client::Bson lie;
  SetIn("ledger", 109, lie.Integer("prev_hash", 1));
  EXPECT_THAT(OpenMigrator()->Preflight().ToString(),
              HasSubstr("output 9 of the old table: expected prev_hash 13, got 1"));
  client::Bson truth;
  SetIn("ledger", 109, truth.Integer("prev_hash", 13));
  client::Bson twice;
  SetIn("ledger", 106, twice.Integer("n", 3).Integer("prev_hash", 10));
  EXPECT_THAT(OpenMigrator()->Preflight().ToString(), HasSubstr("output 3 of the old table is there twice"));
  layout_.form = OldLayout::Form::kBinary;
  EXPECT_THAT(Migrator::Open(store_.clients(), Options()).status().ToString(),
              HasSubstr("the migration of this store reads ledger by the mapping "));
}

}  // namespace
}  // namespace braid::settlement::migration
