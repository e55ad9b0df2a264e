// Namespaces, and the functions of a collection's description.
#include "engine/catalog/collection.h"

#include <array>

#include "base/strings.h"
#include "engine/bson/hash.h"

namespace braid::catalog {
namespace {

constexpr size_t kDatabaseBytesMax = 63;
constexpr size_t kNamespaceBytesMax = 255;

bool IsDatabaseName(std::string_view name) {
  return !name.empty() && name.find_first_of(std::string_view("/\\. \"$\0", 7)) == std::string_view::npos;
}

bool IsCollectionName(std::string_view name) {
  if (name.empty() || name.front() == '.' || name.back() == '.') return false;
  if (name.find('\0') != std::string_view::npos) return false;
  return name.find('$') == std::string_view::npos || name.starts_with("$cmd");
}

/// The earliest date among the values of a TTL field.
void TakeEarliest(const bson::Value& value, std::optional<int64_t>* earliest) {
  if (value.Is(bson::Type::kDate) && (!*earliest || value.AsDate() < **earliest)) *earliest = value.AsDate();
}

}  // namespace

Result<Namespace> Namespace::Make(std::string_view database, std::string_view collection) {
  if (!IsUtf8(database) || !IsUtf8(collection)) {  // clients that list databases could not handle it
    return Status(Code::kInvalidNamespace, StrCat("Invalid namespace specified, it is not UTF-8: '",
                                                  OneLine(StrCat(database, ".", collection)), "'"));
  }
  if (!IsDatabaseName(database) || database.size() > kDatabaseBytesMax || !IsCollectionName(collection)) {
    return Status(Code::kInvalidNamespace, StrCat("Invalid namespace specified '", database, ".", collection, "'"));
  }
  if (database.size() + 1 + collection.size() > kNamespaceBytesMax) {
    return Status(Code::kInvalidNamespace, StrCat("Fully qualified namespace is too long. Namespace: ", database, ".",
                                                  collection, " Max: ", kNamespaceBytesMax));
  }
  return Namespace{std::string(database), std::string(collection)};
}

bool Collection::PlacedById(const bson::Value& id) const {
  const sharding::ShardKey& key = placement->key;
  if (key.empty()) return true;
  if (!key.is_of_id() || collation != nullptr) return false;
  if (!key.has_hashed_field()) return true;
  const auto hashes = bson::HashesOfEqual(id);
  return hashes && hashes->size() == 1;
}

const Index* Collection::ShardKeyIndex(const sharding::ShardKey& key) const {
  const auto serves = [&key](const Index& index) {
    const IndexSpec& spec = index.spec;
    if (index.building || spec.sparse || spec.partial_filter || spec.collation != nullptr ||
        spec.fields.size() < key.fields().size() ||
        (index.multikey.load() & ((uint64_t{1} << key.fields().size()) - 1)) != 0) {
      return false;
    }
    for (size_t i = 0; i < key.fields().size(); ++i) {
      const IndexField& field = spec.fields[i];
      if (field.path != key.fields()[i].path || field.hashed != key.fields()[i].hashed || field.descending)
        return false;
    }
    return true;
  };
  for (const auto& index : indexes) {
    if (serves(*index)) return index.get();
  }
  return nullptr;
}

const Index* Collection::FindIndex(std::string_view name) const {
  for (const auto& index : indexes) {
    if (index->spec.name == name) return index.get();
  }
  return nullptr;
}

const Index* Collection::FindIndex(uint32_t index_number) const {
  for (const auto& index : indexes) {
    if (index->number == index_number) return index.get();
  }
  return nullptr;
}

bool Collection::has_ttl() const {
  for (const auto& index : indexes) {
    if (index->spec.is_ttl()) return true;
  }
  return false;
}

bool Collection::IsExpired(bson::View document, int64_t now_millis) const {
  for (const auto& index : indexes) {
    const IndexSpec& spec = index->spec;
    if (!spec.is_ttl() || index->building) continue;
    std::optional<int64_t> earliest;
    std::array<bson::Value, 1> value;
    if (spec.paths.PlainKey(document, value)) {
      TakeEarliest(value[0], &earliest);
    } else {
      const auto take = [&earliest](query::KeyPaths::Key key) { TakeEarliest(key[0], &earliest); };
      spec.paths.ForEachKey(document, take).Ignore("a document that cannot be indexed has no date here");
    }
    if (!earliest || *earliest > now_millis - *spec.expire_after_seconds * 1000) continue;
    if (spec.partial.matches_everything() || spec.partial.Matches(document).value_or(false)) return true;
  }
  return false;
}

}  // namespace braid::catalog
