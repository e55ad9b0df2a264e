// A placement as the catalogue stores it.
#include "base/strings.h"
#include "engine/bson/json.h"
#include "engine/sharding/placement.h"

namespace braid::sharding {
namespace {

using bson::Type;
using bson::Value;

Status Damaged(bson::View stored) {
  return {Code::kStorageCorrupt, StrCat("the placement ", bson::ToShell(stored), " is damaged")};
}

bson::ObjectId ReadObjectId(const Value& value) {
  bson::ObjectId id{};
  if (value.Is(Type::kObjectId)) value.AsObjectId().copy(id.bytes, sizeof(id.bytes));
  return id;
}

bool IsShard(const Value& value) {
  return value.Is(Type::kInt32) && value.AsInt32() >= 0 && value.AsInt32() < storage::kNoShard;
}

Result<Chunk> ParseChunk(const ShardKey& key, bson::View stored) {
  const Value min = stored.Find("min");
  const Value shard = stored.Find("shard");
  const Value major = stored.Find("major");
  const Value minor = stored.Find("minor");
  const Value since = stored.Find("since");
  if (!min.Is(Type::kObject) || !IsShard(shard) || !major.Is(Type::kInt64) || !minor.Is(Type::kInt64) ||
      !since.Is(Type::kTimestamp)) {
    return Damaged(stored);
  }
  Chunk chunk;
  chunk.min = bson::Document(min.AsView());
  BRAID_TRY(chunk.begin, key.Encode(chunk.min));
  chunk.shard = static_cast<ShardNumber>(shard.AsInt32());
  if (const Value from = stored.Find("from"); !from.missing()) {
    if (!IsShard(from)) return Damaged(stored);
    chunk.from = static_cast<ShardNumber>(from.AsInt32());
  }
  chunk.major = static_cast<uint32_t>(major.AsInt64());
  chunk.minor = static_cast<uint32_t>(minor.AsInt64());
  chunk.since = since.AsTimestamp();
  chunk.id = ReadObjectId(stored.Find("id"));
  return chunk;
}

}  // namespace

bson::Document ToBson(const Placement& placement) {
  bson::Builder out;
  out.Append("key", placement.key.pattern()).Append("unique", placement.unique);
  out.Append("noBalance", placement.no_balance).Append("preparing", placement.preparing);
  out.Append("epoch", placement.epoch).Append("timestamp", bson::Timestamp{placement.timestamp});
  out.OpenArray("chunks");
  for (const Chunk& chunk : placement.chunks) {
    out.OpenNextObject().Append("min", chunk.min).Append("shard", static_cast<int32_t>(chunk.shard));
    if (chunk.from) out.Append("from", static_cast<int32_t>(*chunk.from));
    out.Append("major", chunk.major).Append("minor", chunk.minor);
    out.Append("since", bson::Timestamp{chunk.since}).Append("id", chunk.id).Close();
  }
  return out.Close().Finish();
}

Result<Placement> ParsePlacement(bson::View stored) {
  Placement placement;
  const Value key = stored.Find("key");
  const Value unique = stored.Find("unique");
  const Value no_balance = stored.Find("noBalance");
  const Value preparing = stored.Find("preparing");
  const Value timestamp = stored.Find("timestamp");
  const Value chunks = stored.Find("chunks");
  if (!key.Is(Type::kObject) || !unique.Is(Type::kBool) || !no_balance.Is(Type::kBool) || !preparing.Is(Type::kBool) ||
      !timestamp.Is(Type::kTimestamp) || !chunks.Is(Type::kArray)) {
    return Damaged(stored);
  }
  if (!key.AsView().empty()) {
    BRAID_TRY(placement.key, ShardKey::Parse(key.AsView()));
  }
  placement.unique = unique.AsBool();
  placement.no_balance = no_balance.AsBool();
  placement.preparing = preparing.AsBool();
  placement.epoch = ReadObjectId(stored.Find("epoch"));
  placement.timestamp = timestamp.AsTimestamp();
  for (const bson::Element& chunk : chunks.AsView()) {
    if (!chunk.value.Is(Type::kObject)) return Damaged(stored);
    BRAID_TRY(Chunk parsed, ParseChunk(placement.key, chunk.value.AsView()));
    placement.chunks.push_back(std::move(parsed));
  }
  if (!placement.IsWhole()) return Damaged(stored);
  return placement;
}

}  // namespace braid::sharding
