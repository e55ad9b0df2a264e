// The layout of the key space, as keys.h draws it.
#include "engine/storage/keys.h"

namespace braid::storage {
namespace {

void AppendBigEndian(std::string* out, uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out->push_back(static_cast<char>(value >> shift));
}

std::string Numbered(char letter, uint32_t number) {
  std::string key(1, letter);
  key.reserve(16);
  AppendBigEndian(&key, number, 4);
  return key;
}

std::string Sharded(char letter, uint32_t number, ShardNumber shard) {
  std::string key = Numbered(letter, number);
  AppendBigEndian(&key, shard, 2);
  return key;
}

Range Under(std::string prefix) {
  std::string end = PrefixEnd(prefix);
  return {std::move(prefix), std::move(end)};
}

}  // namespace

std::string ClusterKey() { return "h"; }
std::string DatabaseKey(std::string_view database) { return std::string("b").append(database); }
Range DatabaseRange() { return Under("b"); }
std::string CatalogKey(std::string_view database, std::string_view collection) {
  std::string key("c");
  key.append(database).push_back('\0');
  return key.append(collection);
}
Range CatalogRange() { return Under("c"); }
std::string SessionKey(std::string_view lsid) { return std::string("t").append(lsid); }
Range SessionRange() { return Under("t"); }
std::string NumberKey() { return "n"; }
std::string PendingDropKey(uint32_t number, bool index) { return Numbered('x', number) + (index ? 'i' : 'c'); }
Range PendingDropRange() { return Under("x"); }

std::string DocumentPrefix(uint32_t collection, ShardNumber shard) { return Sharded('d', collection, shard); }
Range DocumentRange(uint32_t collection, ShardNumber shard) { return Under(DocumentPrefix(collection, shard)); }
Range DocumentRange(uint32_t collection) { return Under(Numbered('d', collection)); }

std::string IndexPrefix(uint32_t index, ShardNumber shard) { return Sharded('i', index, shard); }
Range IndexRange(uint32_t index, ShardNumber shard) { return Under(IndexPrefix(index, shard)); }
Range IndexRange(uint32_t index) { return Under(Numbered('i', index)); }
std::string MultikeyKey(uint32_t index) { return Numbered('m', index); }

std::string GlobalKey(uint32_t number, std::string_view key) { return Numbered('u', number).append(key); }
Range GlobalRange(uint32_t number) { return Under(Numbered('u', number)); }

std::string CountKey(uint32_t collection, ShardNumber shard) { return Sharded('s', collection, shard) + 'n'; }
std::string BytesKey(uint32_t collection, ShardNumber shard) { return Sharded('s', collection, shard) + 'b'; }
Range CounterRange(uint32_t collection) { return Under(Numbered('s', collection)); }
ShardNumber ShardOfKey(std::string_view key) {
  return static_cast<ShardNumber>(static_cast<unsigned char>(key[5]) << 8 | static_cast<unsigned char>(key[6]));
}

}  // namespace braid::storage
