#include "engine/commands/sharding/unique_note.h"

#include <fmt/ranges.h>

#include "base/strings.h"
#include "engine/bson/json.h"

namespace braid::commands {
namespace {

/// MongoDB wants the whole shard key as the first fields of a unique index, hashed or not.
bool ContainsKey(const catalog::IndexSpec& spec, const sharding::ShardKey& key) {
  if (spec.fields.size() < key.fields().size()) return false;
  for (size_t i = 0; i < key.fields().size(); ++i) {
    if (spec.fields[i].path != key.fields()[i].path) return false;
  }
  return true;
}

}  // namespace

std::string UniqueNote(const catalog::Collection& collection) {
  if (!collection.sharded()) return {};
  std::vector<std::string> names;
  for (const auto& index : collection.indexes) {
    if (!index->spec.unique || index->spec.is_id() || ContainsKey(index->spec, collection.placement->key)) continue;
    names.push_back(index->spec.name);
  }
  if (names.empty()) return {};
  return StrCat("unique over all shards although the shard key ", bson::ToShell(collection.placement->key.pattern()),
                " is not part of it: ", fmt::format("{}", fmt::join(names, ", ")),
                ". MongoDB would refuse this on a sharded collection.");
}

}  // namespace braid::commands
