#include "engine/commands/topology.h"

#include <unistd.h>

#include <cstdlib>

#include "base/strings.h"
#include "engine/commands/parts.h"

namespace braid::commands {

std::string ShardName(const EngineParts& engine, storage::ShardNumber shard) {
  return engine.catalog->cluster().NameOf(shard);
}

std::string PrimaryShard(const EngineParts& engine, const catalog::Collection& collection) {
  return ShardName(engine, collection.placement->chunks.front().shard);
}

std::string ShardHost(const EngineParts& engine, storage::ShardNumber shard) {
  return StrCat(ShardName(engine, shard), "/", engine.options.advertised_host);
}

int32_t ServerPort(const EngineParts& engine) {
  const std::string& host = engine.options.advertised_host;
  const size_t colon = host.rfind(':');
  return colon == std::string::npos ? 27017 : std::atoi(host.c_str() + colon + 1);
}

bson::Document ServerInfo(const EngineParts& engine) {
  const std::string& host = engine.options.advertised_host;
  return bson::Make("host", host.substr(0, host.rfind(':')), "port", ServerPort(engine), "version", kMongoVersion,
                    "gitVersion", "braid");
}

}  // namespace braid::commands
