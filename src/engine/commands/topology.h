// How the engine's parts are named to clients: shards, the server, its version.
#pragma once

#include <string>

#include "engine/bson/value.h"
#include "engine/catalog/collection.h"
#include "engine/storage/keys.h"

namespace braid::commands {

struct EngineParts;

constexpr std::string_view kMongoVersion = "7.0.14";  // the version of MongoDB that Braid presents itself as
constexpr std::string_view kBraidVersion = "0.1.0";
constexpr int32_t kWireVersionMax = 21;

/// "shard0", "shard1", … unless addShard gave another name.
std::string ShardName(const EngineParts& engine, storage::ShardNumber shard);
/// The shard of a collection that is not sharded.
std::string PrimaryShard(const EngineParts& engine, const catalog::Collection& collection);
/// "shard0/localhost:27017", as connection strings of shards look.
std::string ShardHost(const EngineParts& engine, storage::ShardNumber shard);
/// {host, port, version, gitVersion}
bson::Document ServerInfo(const EngineParts& engine);
/// The part after the last colon of the advertised address.
int32_t ServerPort(const EngineParts& engine);

}  // namespace braid::commands
