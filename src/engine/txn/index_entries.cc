// The form of index entries in the store (keys.h).
#include <cstring>

#include "base/assert.h"
#include "base/strings.h"
#include "engine/storage/keys.h"
#include "engine/txn/records.h"

namespace braid::txn {

std::string EntryKey(const catalog::Index& index, storage::ShardNumber shard, std::string_view values_key,
                     std::string_view id_key) {
  BRAID_ASSERT(shard != storage::kNoShard);
  std::string key = storage::IndexPrefix(index.number, shard);
  key.append(values_key);
  if (!index.spec.unique) key.append(id_key);
  return key;
}

std::string EntryValue(const catalog::Index& index, const bson::Document& values, std::string_view id_key) {
  const auto size = static_cast<uint32_t>(id_key.size());
  std::string value;
  value.reserve(4 + id_key.size() + values.bytes().size());
  value.append(reinterpret_cast<const char*>(&size), 4);
  if (index.spec.unique) value.append(id_key);
  return value.append(values.bytes());
}

Result<StoredEntry> ReadEntry(const catalog::Index& index, std::string_view key, std::string_view value) {
  uint32_t size = 0;
  const size_t id_at = index.spec.unique ? 4 : 0;  // in the value or, if 0, at the end of the key
  if (value.size() >= 4) std::memcpy(&size, value.data(), 4);
  const size_t values_at = 4 + (id_at != 0 ? size : 0);
  if (value.size() < values_at + 5 || (id_at == 0 && key.size() < size)) {
    return Status(Code::kStorageCorrupt, StrCat("damaged entry of index ", index.spec.name, ": key ", Hex(key)));
  }
  const std::string_view id_key = id_at != 0 ? value.substr(4, size) : key.substr(key.size() - size);
  return StoredEntry{id_key, bson::View(value.substr(values_at))};
}

}  // namespace braid::txn
