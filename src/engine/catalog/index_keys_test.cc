// Which entries a document has: examples, and a naive model for random documents.
#include "engine/catalog/index_keys.h"

#include <algorithm>
#include <functional>
#include <set>

#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/bson/hash.h"
#include "engine/bson/json.h"
#include "engine/bson/key_encoding.h"

namespace braid::catalog {
namespace {

using bson::J;
using bson::Type;
using bson::Value;

IndexSpec Spec(std::string_view key, std::string_view options = "{}") {
  bson::Builder builder;
  builder.Append("key", J(key)).Append("name", "x").AppendAll(J(options));
  auto spec = IndexSpec::Parse(builder.Finish(), nullptr);
  EXPECT_OK(spec);
  return *spec;
}

/// "[{ 0: 1 }, { 0: 2 }] multikey"
std::string Entries(const IndexSpec& spec, std::string_view document) {
  const auto entries = MakeEntries(spec, J(document));
  if (!entries.ok()) return StrCat("error ", static_cast<int>(entries.error().code()));
  std::string text;
  for (const auto& entry : entries->entries) text += (text.empty() ? "" : " ") + bson::ToShell(entry.values);
  return entries->multikey == 0 ? text : StrCat(text, " m", entries->multikey);
}

TEST(IndexKeysTest, Examples) {
  const IndexSpec a = Spec("{'a': 1}");
  EXPECT_EQ(Entries(a, "{'a': 5}"), "{ 0: 5 }");
  EXPECT_EQ(Entries(a, "{'b': 5}"), "{}");
  EXPECT_EQ(Entries(a, "{'a': null}"), "{ 0: null }");
  EXPECT_EQ(Entries(a, "{'a': [3, 1, 2, 1]}"), "{ 0: 1 } { 0: 2 } { 0: 3 } m1");
  EXPECT_EQ(Entries(a, "{'a': []}"), "{ 0: undefined } m1");
  EXPECT_EQ(Entries(a, "{'a': [[1, 2]]}"), "{ 0: [ 1, 2 ] } m1");
  const IndexSpec ab = Spec("{'a.b': 1}");
  EXPECT_EQ(Entries(ab, "{'a': {'b': 1}}"), "{ 0: 1 }");
  EXPECT_EQ(Entries(ab, "{'a': [{'b': 1}, {'b': 2}]}"), "{ 0: 1 } { 0: 2 } m1");
  EXPECT_EQ(Entries(ab, "{'a': [{'b': [1, 2]}, {}]}"), "{} { 0: 1 } { 0: 2 } m1");
  EXPECT_EQ(Entries(ab, "{'a': []}"), "{} m1");
  EXPECT_EQ(Entries(Spec("{'a.0': 1}"), "{'a': [7, 8]}").substr(0, 8), "{ 0: 7 }");
  EXPECT_EQ(Entries(Spec("{'a': 1, 'b': 1}"), "{'a': [1, 2], 'b': 3}"), "{ 0: 1, 1: 3 } { 0: 2, 1: 3 } m1");
  EXPECT_EQ(Entries(Spec("{'b': 1, 'a': 1}"), "{'a': [1, 2], 'b': 3}"), "{ 0: 3, 1: 1 } { 0: 3, 1: 2 } m2");
  EXPECT_EQ(Entries(Spec("{'a': 1, 'b': 1}"), "{'a': [1], 'b': [2]}"), "error 171");
  EXPECT_EQ(Entries(Spec("{'a.b': 1, 'a.c': 1}"), "{'a': [{'b': 1, 'c': 2}, {'b': 3, 'c': 4}]}"),
            "{ 0: 1, 1: 2 } { 0: 3, 1: 4 } m3");
}

TEST(IndexKeysTest, SparsePartialHashed) {
  const IndexSpec sparse = Spec("{'a': 1, 'b': 1}", "{'sparse': true}");
  EXPECT_EQ(Entries(sparse, "{'c': 1}"), "");
  EXPECT_EQ(Entries(sparse, "{'b': 1}"), "{ 1: 1 }");
  EXPECT_EQ(Entries(sparse, "{'a': null}"), "{ 0: null }");
  const IndexSpec partial = Spec("{'a': 1}", "{'partialFilterExpression': {'b': {'$gt': 5}}}");
  EXPECT_EQ(Entries(partial, "{'a': 1, 'b': 5}"), "");
  EXPECT_EQ(Entries(partial, "{'a': 1, 'b': 6}"), "{ 0: 1 }");
  const IndexSpec hashed = Spec("{'a': 'hashed', 'b': -1}");
  EXPECT_EQ(Entries(hashed, "{'a': 'abc', 'b': 1}"), "{ 0: 8478485326885698097, 1: 1 }");
  EXPECT_EQ(Entries(hashed, "{'b': 1}"), "{ 0: 2338878944348059895, 1: 1 }");
  EXPECT_EQ(Entries(hashed, "{'a': [1]}"), "error 16766");
  EXPECT_EQ(Entries(hashed, "{'a': {'b': 1}, 'b': 1}").substr(0, 4), "{ 0:");
}

TEST(IndexKeysTest, CollationAndDirectionAreInTheKey) {
  IndexSpec spec = Spec("{'a': -1}");
  spec.collation = *bson::Collation::Parse(J("{'locale': 'en_US', 'strength': 2}"));
  const auto key = [&spec](std::string_view document) { return MakeEntries(spec, J(document))->entries[0].key; };
  EXPECT_EQ(key("{'a': 'ABC'}"), key("{'a': 'abc'}"));
  EXPECT_GT(key("{'a': 'abc'}"), key("{'a': 'abd'}"));
  EXPECT_EQ(bson::ToShell(MakeEntries(spec, J("{'a': 'ABC'}"))->entries[0].values), "{ 0: \"ABC\" }");
}

/// All values at a path without positions, as the definition says: arrays on the way and at the end are opened once.
void Naive(const Value& value, std::vector<std::string_view> rest, bool open, std::set<std::string>* keys) {
  const auto add = [keys](const Value& found) {
    std::string key;
    bson::AppendKey(&key, found.missing() ? bson::Arena::Null() : found);
    keys->insert(key);
  };
  if (value.Is(Type::kArray) && open) {
    const auto elements = value.AsView();
    if (elements.empty()) {
      add(rest.empty() ? Value(Type::kUndefined, "", 0) : Value());
      return;
    }
    for (const auto& element : elements) Naive(element.value, rest, false, keys);
    return;
  }
  if (rest.empty()) return add(value);
  if (!value.Is(Type::kObject)) return add(Value());
  const Value next = value.AsView().Find(rest.front());
  rest.erase(rest.begin());
  Naive(next, rest, true, keys);
}

bson::Document RandomDocument(Random& random, int depth) {
  bson::Builder out;
  const std::function<void(std::string_view, int)> add = [&](std::string_view name, int left) {
    switch (random.Below(left > 0 ? 6 : 3)) {
      case 0: out.Append(name, static_cast<int32_t>(random.Below(4))); break;
      case 1: out.Append(name, static_cast<double>(random.Below(4))); break;
      case 2: out.Append(name, bson::Null{}); break;
      case 3:
        out.OpenObject(name);
        for (std::string_view field : {"a", "b", "c"}) {
          if (random.Chance(1, 2)) add(field, left - 1);
        }
        out.Close();
        break;
      default: {
        out.OpenArray(name);
        const uint64_t count = random.Below(4);
        for (uint64_t i = 0; i < count; ++i) add(StrCat(i), left - 1);
        out.Close();
      }
    }
  };
  for (std::string_view field : {"a", "b", "c"}) {
    if (random.Chance(2, 3)) add(field, depth);
  }
  return out.Finish();
}

TEST(IndexKeysTest, SinglePathIsTheNaiveModel) {
  Random random(test::Seed());
  for (const char* path : {"a", "a.b", "a.b.c", "b.a"}) {
    const IndexSpec spec = Spec(StrCat("{'", path, "': 1}"));
    for (int i = 0; i < 1000; ++i) {
      const bson::Document document = RandomDocument(random, 4);
      std::set<std::string> expected;
      Naive(Value(document.view()), Split(path, '.'), true, &expected);
      const auto entries = MakeEntries(spec, document);
      ASSERT_OK(entries);
      std::set<std::string> got;
      for (const auto& entry : entries->entries) got.insert(entry.key);
      ASSERT_EQ(got, expected) << path << " " << bson::ToShell(document);
      ASSERT_EQ(entries->entries.size(), got.size());
      ASSERT_TRUE(std::is_sorted(entries->entries.begin(), entries->entries.end(),
                                 [](const auto& a, const auto& b) { return a.key < b.key; }));
      ASSERT_TRUE(got.size() <= 1 || entries->multikey != 0);
    }
  }
}

// Every entry of a compound index projects onto an entry of each of its fields' own indexes, and none is left out.
TEST(IndexKeysTest, CompoundProjectsOntoSingles) {
  Random random(test::Seed());
  const IndexSpec compound = Spec("{'a.b': 1, 'c': -1}");
  const IndexSpec first = Spec("{'a.b': 1}");
  const IndexSpec second = Spec("{'c': -1}");
  int parallel = 0;
  for (int i = 0; i < 2000; ++i) {
    const bson::Document document = RandomDocument(random, 3);
    const auto entries = MakeEntries(compound, document);
    if (!entries.ok()) {
      ASSERT_EQ(entries.error().code(), Code::kCannotIndexParallelArrays);
      ++parallel;
      continue;
    }
    const auto keys_of = [&](const IndexSpec& spec) {
      std::set<std::string> keys;
      const auto single = MakeEntries(spec, document);
      for (const auto& entry : single->entries) keys.insert(entry.key);
      return keys;
    };
    std::set<std::string> firsts;
    std::set<std::string> seconds;
    for (const auto& entry : entries->entries) {
      const size_t size = bson::KeySize(entry.key);
      firsts.insert(entry.key.substr(0, size));
      seconds.insert(entry.key.substr(size));
    }
    ASSERT_EQ(firsts, keys_of(first)) << bson::ToShell(document);
    ASSERT_EQ(seconds, keys_of(second)) << bson::ToShell(document);
  }
  EXPECT_GT(parallel, 0);
}

}  // namespace
}  // namespace braid::catalog
