#include "engine/language/match/key_paths.h"

#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/bson/json.h"

namespace braid::query {

namespace {

struct KeyCase {
  std::vector<std::string_view> paths;
  const char* document;
  std::string keys;
  std::vector<uint64_t> arrays;
};

std::string ShowKey(const bson::Value& value) {
  if (value.missing()) return "missing";
  return value.Is(bson::Type::kUndefined) ? "undefined" : bson::ToJson(value);
}

const std::vector<KeyCase>& Cases() {
  static const std::vector<KeyCase> kCases = {
      {{"a"}, "{'a': 1}", "(1)", {0}},
      {{"a", "b"}, "{'b': 1}", "(missing,1)", {0, 0}},
      {{"a"}, "{'a': [1, 2]}", "(1)(2)", {1}},
      {{"a"}, "{'a': []}", "(undefined)", {1}},
      {{"a.b"}, "{'a': []}", "(missing)", {1}},
      {{"a", "b"}, "{'a': [1, 2], 'b': 5}", "(1,5)(2,5)", {1, 0}},
      {{"a.b", "a.c"}, "{'a': [{'b': 1, 'c': 2}, {'b': 3}]}", "(1,2)(3,missing)", {1, 1}},
      {{"a.b"}, "{'a': [{'b': [1, 2]}, {'b': 3}]}", "(1)(2)(3)", {3}},
      {{"a.b"}, "{'a': [1, {'b': 2}]}", "(missing)(2)", {1}},
      {{"a"}, "{'a': [[1, 2], 3]}", "([ 1, 2 ])(3)", {1}},
      {{"a.0"}, "{'a': [7, 8]}", "(7)(7)", {1}},
      {{"a.0"}, "{'a': [[7, 8]]}", "([ 7, 8 ])([ 7, 8 ])", {1}},
      {{"a.b"}, "{'a': 5}", "(missing)", {0}},
  };
  return kCases;
}

}  // namespace

TEST(KeyPathsTest, Keys) {
  for (const KeyCase& c : Cases()) {
    const KeyPaths paths(c.paths);
    const bson::Document document = bson::J(c.document);
    std::string keys;
    KeyPaths::ArrayComponents arrays;
    ASSERT_OK(paths.ForEachKey(
        document,
        [&](KeyPaths::Key key) {
          std::string text;
          for (const bson::Value& value : key) text += (text.empty() ? "" : ",") + ShowKey(value);
          keys += StrCat("(", text, ")");
        },
        &arrays));
    EXPECT_EQ(keys, c.keys) << c.document;
    EXPECT_EQ(std::vector<uint64_t>(arrays.begin(), arrays.begin() + paths.size()), c.arrays) << c.document;

    std::array<bson::Value, KeyPaths::kPathsMax> plain;
    const bool has_array = std::string_view(c.document).find('[') != std::string_view::npos;
    EXPECT_EQ(paths.PlainKey(document, plain), !has_array) << c.document;
  }
}

TEST(KeyPathsTest, Errors) {
  const auto code = [](std::vector<std::string_view> paths, const char* document) {
    return static_cast<int>(KeyPaths(paths).ForEachKey(bson::J(document), [](KeyPaths::Key) {}).code());
  };
  EXPECT_EQ(code({"a", "b"}, "{'a': [1], 'b': [2]}"), 171);
  EXPECT_EQ(code({"a.b", "a.c"}, "{'a': [{'b': [1], 'c': [2]}]}"), 171);
  EXPECT_EQ(code({"a.b", "a.c"}, "{'a': [{'b': [1], 'c': 2}]}"), 0);
  EXPECT_EQ(code({"a.0"}, "{'a': [{'0': 1}]}"), 16746);
  EXPECT_EQ(code({"a.0"}, "{'a': {'0': 1}}"), 0);
}

}  // namespace braid::query
