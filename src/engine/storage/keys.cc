// The layout of the key space, as keys.h draws it.
#include "engine/storage/keys.h"

#include "base/assert.h"
#include "base/big_endian.h"

namespace braid::storage {
namespace {

constexpr size_t kSessionBytes = 16;
constexpr size_t kStatementsKeyBytes = 1 + kSessionBytes + 8 + 4;

std::string Numbered(char letter, uint32_t number) {
  std::string key(1, letter);
  key.reserve(16);
  big_endian::Append(key, number, 4);
  return key;
}

std::string Sharded(char letter, uint32_t number, ShardNumber shard) {
  std::string key = Numbered(letter, number);
  big_endian::Append(key, shard, 2);
  return key;
}

Range Under(std::string prefix) {
  std::string end = PrefixEnd(prefix);
  BRAID_ASSERT(!end.empty());  // the first byte is a letter
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
std::string StatementsKey(std::string_view lsid, int64_t number, int32_t first) {
  std::string key = SessionKey(lsid);
  big_endian::Append(key, static_cast<uint64_t>(number), 8);
  big_endian::Append(key, static_cast<uint32_t>(first), 4);
  return key;
}
Range StatementsRange(std::string_view lsid, int64_t number) {
  std::string prefix = SessionKey(lsid);
  big_endian::Append(prefix, static_cast<uint64_t>(number), 8);
  return Under(std::move(prefix));
}
std::string_view SessionOf(std::string_view key) { return key.substr(1, kSessionBytes); }
int64_t NumberOfStatements(std::string_view key) {
  return key.size() == kStatementsKeyBytes ? static_cast<int64_t>(big_endian::Get(key.substr(1 + kSessionBytes, 8)))
                                           : -1;
}
int32_t FirstStatementOf(std::string_view key) {
  return key.size() == kStatementsKeyBytes ? static_cast<int32_t>(big_endian::Get(key.substr(1 + kSessionBytes + 8)))
                                           : -1;
}
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
