// Index keys: the paths' values (language/match/key_paths.h) in the index's directions, collation and hash.
#include "engine/catalog/index_keys.h"

#include <algorithm>
#include <charconv>

#include "base/assert.h"
#include "base/strings.h"
#include "engine/bson/arena.h"
#include "engine/bson/builder.h"
#include "engine/bson/hash.h"
#include "engine/bson/key_encoding.h"

namespace braid::catalog {
namespace {

using bson::Value;
using query::KeyPaths;

bool AllMissing(KeyPaths::Key key) {
  return std::all_of(key.begin(), key.end(), [](const Value& value) { return value.missing(); });
}

IndexEntry MakeEntry(const IndexSpec& spec, KeyPaths::Key key) {
  BRAID_ASSERT(key.size() == spec.fields.size());
  IndexEntry entry;
  bson::Builder values;
  bson::Arena arena;
  for (size_t i = 0; i < key.size(); ++i) {
    const IndexField& field = spec.fields[i];
    Value value = key[i];
    if (field.hashed) value = arena.Int64(bson::MongoHash(value));
    char name[4];
    const char* end = std::to_chars(name, name + sizeof(name), i).ptr;
    values.Append({name, static_cast<size_t>(end - name)}, value);
    bson::AppendKey(&entry.key, value.missing() ? bson::Arena::Null() : value, field.descending, spec.collation.get());
  }
  entry.values = values.Finish();
  return entry;
}

Status ArrayUnderHash(const IndexSpec& spec) {
  return {Location(16766), StrCat("Error: hashed indexes do not currently support array values. Index: ", spec.name)};
}

}  // namespace

Result<IndexEntries> MakeEntries(const IndexSpec& spec, bson::View document) {
  IndexEntries result;
  if (spec.partial_filter) {
    BRAID_TRY(bool indexed, spec.partial.Matches(document));
    if (!indexed) return result;
  }
  std::array<Value, KeyPaths::kPathsMax> plain;
  const std::span<Value> plain_key(plain.data(), spec.fields.size());
  if (spec.paths.PlainKey(document, plain_key)) {
    if (!spec.sparse || !AllMissing(plain_key)) result.entries.push_back(MakeEntry(spec, plain_key));
    return result;
  }
  if (spec.is_hashed()) return ArrayUnderHash(spec);
  KeyPaths::ArrayComponents arrays;
  const auto add = [&](KeyPaths::Key key) {
    if (!spec.sparse || !AllMissing(key)) result.entries.push_back(MakeEntry(spec, key));
  };
  BRAID_CHECK_OK(spec.paths.ForEachKey(document, add, &arrays));
  for (size_t i = 0; i < spec.fields.size(); ++i) {
    if (arrays[i] != 0) result.multikey |= uint64_t{1} << i;
  }
  auto& entries = result.entries;
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  entries.erase(
      std::unique(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.key == b.key; }),
      entries.end());
  return result;
}

}  // namespace braid::catalog
