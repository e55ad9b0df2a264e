// $addFields and $set: faults, then results.
#include "engine/language/project/testing.h"

namespace braid::query {
namespace {

using Use = Projection::Use;

TEST(AddFieldsTest, Codes) {
  const std::pair<const char*, int> cases[] = {
      {"{}", 0},
      {"{'a': 1}", 0},
      {"{'a.b': 1, 'a.c': 1}", 0},
      {"{'a.b': 1, 'a': {'c': 1}}", 0},
      {"{'a': {}}", 0},
      {"{'a': 1, 'a': 2}", 40176},
      {"{'a': 1, 'a.b': 2}", 40176},
      {"{'a.b.c': 1, 'a': 2}", 40176},
      {"{'a': {'b': 1}, 'a.b': 2}", 40176},
      {"{'a': {'$add': [1, 2], 'b': 1}}", 40181},
      {"{'a': {'b': 1, '$add': [1, 2]}}", 40181},
      {"{'a': {'b.c': 1}}", 40183},
      {"{'': 1}", 40352},
      {"{'a': {'': 1}}", 40353},
      {"{'a.': 1}", 40353},
      {"{'.a': 1}", 15998},
      {"{'$a': 1}", 16410},
      {"{'a.$': 1}", 16410},
      {"{'a': {'$nonsense': 1}}", 168},
      {"{'a': {'$nonsense': 1}, 'b': 1, 'b': 2}", 40176},  // paths come first
      {"{'a': '$$nobody'}", 17276},
  };
  for (const auto& [specification, code] : cases) {
    EXPECT_EQ(test::CodeOf(specification, Use::kAddFields), code) << specification;
  }
}

TEST(AddFieldsTest, Results) {
  struct Case {
    const char* specification;
    const char* document;
    const char* expected;
  };
  const Case cases[] = {
      {"{}", "{'a': 1}", "{'a': 1}"},
      {"{'c': 3}", "{'a': 1, 'b': 2}", "{'a': 1, 'b': 2, 'c': 3}"},
      {"{'b': 'B', 'a': 'A'}", "{'a': 1, 'b': 2, 'c': 3}", "{'a': 'A', 'b': 'B', 'c': 3}"},
      {"{'z': 1, 'y': 2}", "{'a': 1}", "{'a': 1, 'z': 1, 'y': 2}"},
      {"{'a': '$b', 'b': '$a'}", "{'a': 1, 'b': 2}", "{'a': 2, 'b': 1}"},
      {"{'a': '$$REMOVE'}", "{'a': 1, 'b': 2}", "{'b': 2}"},
      {"{'a': '$nothing', 'c': '$nothing'}", "{'a': 1, 'b': 2}", "{'b': 2}"},
      {"{'a': {}}", "{'a': {'b': 1}}", "{'a': {}}"},
      {"{'a': 0, 'b': false}", "{'a': 1}", "{'a': 0, 'b': false}"},
      {"{'_id': 7}", "{'_id': 1, 'a': 1}", "{'_id': 7, 'a': 1}"},
      // nested
      {"{'a.b': 1}", "{'x': 1}", "{'x': 1, 'a': {'b': 1}}"},
      {"{'a.b': 1}", "{'a': 5, 'x': 1}", "{'a': {'b': 1}, 'x': 1}"},
      {"{'a.b': 1}", "{'a': null}", "{'a': {'b': 1}}"},
      {"{'a.b': 1}", "{'a': {'c': 2}}", "{'a': {'c': 2, 'b': 1}}"},
      {"{'a': {'b': 1}}", "{'a': {'c': 2}}", "{'a': {'c': 2, 'b': 1}}"},
      {"{'a.b.c': 1}", "{'a': {'b': {'d': 1}, 'e': 1}}", "{'a': {'b': {'d': 1, 'c': 1}, 'e': 1}}"},
      {"{'a.b': '$$REMOVE'}", "{'a': {'b': 1}}", "{'a': {}}"},
      {"{'a.b': '$$REMOVE'}", "{'x': 1}", "{'x': 1, 'a': {}}"},
      // through arrays
      {"{'a.b': 1}", "{'a': []}", "{'a': []}"},
      {"{'a.b': 1}", "{'a': [5, {'c': 2}, {'b': 3, 'd': 4}, []]}",
       "{'a': [{'b': 1}, {'c': 2, 'b': 1}, {'b': 1, 'd': 4}, []]}"},
      {"{'a.b': 1}", "{'a': [[5, {'c': 2}]]}", "{'a': [[{'b': 1}, {'c': 2, 'b': 1}]]}"},
      {"{'a.0': 1}", "{'a': [5]}", "{'a': [{'0': 1}]}"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(test::Show(test::ParseText(c.specification, Use::kAddFields), c.document), test::Canonical(c.expected))
        << c.specification << " of " << c.document;
  }
}

TEST(AddFieldsTest, ManyFieldsAtOnce) {
  std::string specification = "{", document = "{", expected = "{";
  for (int i = 0; i < 200; ++i) {
    const std::string name = (i == 0 ? "'f" : ", 'f") + std::to_string(i) + "': ";
    specification += name + "true";
    expected += name + "true";
    if (i < 150) document += name + "1";
  }
  EXPECT_EQ(test::Show(test::ParseText(specification + "}", Use::kAddFields), document + "}"),
            test::Canonical(expected + "}"));
}

TEST(AddFieldsTest, NeedsTheWholeDocument) {
  EXPECT_EQ((*test::ParseText("{'a': 1}", Use::kAddFields))->needed_paths(), nullptr);
}

}  // namespace
}  // namespace braid::query
