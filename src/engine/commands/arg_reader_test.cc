// ArgReader: every field is read, ignored or refused by name, and anything else is an error with MongoDB's code.
#include "engine/commands/arg_reader.h"

#include <functional>

#include "base/testing/testing.h"
#include "engine/bson/json.h"

namespace braid::commands {
namespace {

using bson::J;

// The code of Finish() after `read` has taken `text` apart as the command "test".
int CodeOf(std::string_view text, const std::function<void(ArgReader&)>& read) {
  const bson::Document body = J(text);
  Request request{.body = body, .name = "test"};
  ArgReader reader(request);
  read(reader);
  return static_cast<int>(reader.Finish().code());
}

constexpr int kTypeMismatch = 14;

TEST(ArgReaderTest, ReadsEveryType) {
  const bson::Document body =
      J("{'s': 'x', 'o': {'a': 1}, 'n': 3.9, 'b': 1, 'v': null, 'l': [{'_id': 1}, {'_id': 2}]}");
  ArgReader reader(body, "test");
  std::string_view text;
  bson::View object;
  int64_t number = 0;
  bool flag = false;
  bson::Value value;
  std::vector<bson::View> list;
  std::optional<int64_t> absent;
  reader.Required("s", text);
  reader.Required("o", object);
  reader.Required("n", number);
  reader.Required("b", flag);
  reader.Required("v", value);
  reader.Required("l", list);
  reader.Optional("absent", absent);
  ASSERT_OK(reader.Finish());
  EXPECT_EQ(text, "x");
  EXPECT_TRUE(object.Has("a"));
  EXPECT_EQ(number, 3);
  EXPECT_TRUE(flag);
  EXPECT_TRUE(value.Is(bson::Type::kNull));
  EXPECT_EQ(list.size(), 2u);
  EXPECT_FALSE(absent);
}

TEST(ArgReaderTest, MissingDuplicateUnknown) {
  int64_t number = 0;
  const auto required = [&](ArgReader& reader) { reader.Required("n", number); };
  EXPECT_EQ(CodeOf("{}", required), 40414);
  EXPECT_EQ(CodeOf("{'n': 1, 'n': 2}", required), 40413);
  EXPECT_EQ(CodeOf("{'n': 1, 'm': 2}", required), 40415);
  EXPECT_EQ(CodeOf("{'n': 1}", required), 0);
}

TEST(ArgReaderTest, WrongTypes) {
  std::string_view text;
  bson::View object;
  int64_t number = 0;
  bool flag = false;
  std::vector<bson::View> list;
  std::optional<bson::View> array;
  EXPECT_EQ(CodeOf("{'x': 1}", [&](ArgReader& reader) { reader.Optional("x", text); }), kTypeMismatch);
  EXPECT_EQ(CodeOf("{'x': []}", [&](ArgReader& reader) { reader.Optional("x", object); }), kTypeMismatch);
  EXPECT_EQ(CodeOf("{'x': '1'}", [&](ArgReader& reader) { reader.Optional("x", number); }), kTypeMismatch);
  EXPECT_EQ(CodeOf("{'x': 'true'}", [&](ArgReader& reader) { reader.Optional("x", flag); }), kTypeMismatch);
  EXPECT_EQ(CodeOf("{'x': {}}", [&](ArgReader& reader) { reader.Optional("x", list); }), kTypeMismatch);
  EXPECT_EQ(CodeOf("{'x': [1]}", [&](ArgReader& reader) { reader.Optional("x", list); }), kTypeMismatch);
  EXPECT_EQ(CodeOf("{'x': {}}", [&](ArgReader& reader) { reader.OptionalArray("x", array); }), kTypeMismatch);
}

TEST(ArgReaderTest, NullIsAbsentForWhatIsOptional) {
  bson::View object;
  int64_t number = 7;
  bool flag = true;
  EXPECT_EQ(CodeOf("{'x': null}", [&](ArgReader& reader) { reader.Optional("x", object); }), 0);
  EXPECT_EQ(CodeOf("{'x': null}", [&](ArgReader& reader) { reader.Optional("x", number); }), 0);
  EXPECT_EQ(CodeOf("{'x': null}", [&](ArgReader& reader) { reader.Optional("x", flag); }), 0);
  EXPECT_EQ(number, 7);
  EXPECT_TRUE(flag);
  EXPECT_EQ(CodeOf("{'x': null}", [&](ArgReader& reader) { reader.Required("x", number); }), kTypeMismatch);
}

TEST(ArgReaderTest, IgnoredRefusedAndChecked) {
  const auto read = [](ArgReader& reader) {
    reader.Ignore({"old"});
    reader.Refuse({"capped"}, "not here");
    reader.Check(true, Code::kBadValue, "never seen");
  };
  EXPECT_EQ(CodeOf("{'old': 1}", read), 0);
  EXPECT_EQ(CodeOf("{'capped': false}", read), static_cast<int>(Code::kCommandNotSupported));
  EXPECT_EQ(CodeOf("{}", [](ArgReader& reader) { reader.Check(false, Code::kBadValue, "no"); }),
            static_cast<int>(Code::kBadValue));
}

TEST(ArgReaderTest, TheFirstProblemIsTold) {
  int64_t number = 0;
  std::string_view text;
  const auto read = [&](ArgReader& reader) {
    reader.Required("n", number);
    reader.Required("s", text);
  };
  EXPECT_EQ(CodeOf("{'n': 'x'}", read), kTypeMismatch);
  EXPECT_EQ(CodeOf("{'s': 'x', 'unknown': 1}", read), 40414);
}

TEST(ArgReaderTest, CommonFieldsOnlyAtTheTop) {
  EXPECT_EQ(CodeOf("{'lsid': {}, '$db': 'x', 'comment': 1, '$clusterTime': {}}", [](ArgReader&) {}), 0);
  const bson::Document statement = J("{'comment': 1}");
  ArgReader reader(statement, "update.updates");
  const Status status = reader.Finish();
  EXPECT_EQ(static_cast<int>(status.code()), 40415);
  EXPECT_NE(status.message().find("update.updates.comment"), std::string::npos);
}

TEST(ArgReaderTest, DocumentsFromASequence) {
  const bson::Document body = J("{'insert': 'c'}");
  const bson::Document one = J("{'_id': 1}");
  Request request{.body = body, .sequences = {{"documents", {one, one}}}, .name = "insert"};
  ArgReader reader(request);
  std::string_view collection;
  std::vector<bson::View> documents;
  reader.Collection("insert", collection);
  reader.Required("documents", documents);
  ASSERT_OK(reader.Finish());
  EXPECT_EQ(documents.size(), 2u);
}

TEST(ArgReaderTest, ACollectionIsAString) {
  std::string_view name;
  EXPECT_EQ(CodeOf("{'find': 5}", [&](ArgReader& reader) { reader.Collection("find", name); }),
            static_cast<int>(Code::kInvalidNamespace));
}

}  // namespace
}  // namespace braid::commands
