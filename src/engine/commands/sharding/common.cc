#include "engine/commands/sharding/common.h"

#include "base/strings.h"
#include "engine/bson/json.h"
#include "engine/commands/parts.h"

namespace braid::commands {

Result<catalog::CollectionPtr> FindSharded(Call& call, const catalog::Namespace& ns) {
  catalog::CollectionPtr collection = call.engine.catalog->Find(ns);
  if (collection == nullptr || !collection->sharded()) {
    return Status(Code::kNamespaceNotSharded, StrCat("Collection ", ns.ToString(), " is not sharded."));
  }
  return collection;
}

Result<catalog::Shard> FindShard(Call& call, std::string_view name) {
  const catalog::Cluster cluster = call.engine.catalog->cluster();
  const catalog::Shard* shard = cluster.Find(name.substr(0, name.find('/')));
  if (shard == nullptr) {
    return Status(Code::kShardNotFound, StrCat("Shard ", name, " does not exist; listShards names them"));
  }
  return *shard;
}

Result<size_t> FindChunk(const sharding::Placement& placement, const ChunkSelector& selector) {
  if (selector.find) {
    BRAID_TRY(const std::string key, placement.key.KeyOf(*selector.find));
    return placement.IndexOf(key);
  }
  if (selector.bounds->Count() != 2 || !selector.bounds->At(0).Is(bson::Type::kObject) ||
      !selector.bounds->At(1).Is(bson::Type::kObject)) {
    return Status(Code::kFailedToParse, "bounds must be an array of two documents: the lower and the upper one");
  }
  BRAID_TRY(const std::string begin, placement.key.Encode(selector.bounds->At(0).AsView()));
  BRAID_TRY(const std::string end, placement.key.Encode(selector.bounds->At(1).AsView()));
  const size_t chunk = placement.IndexOf(begin);
  BRAID_TRY(const std::string chunk_end, placement.key.Encode(placement.MaxOf(chunk)));
  if (placement.chunks[chunk].begin != begin || chunk_end != end) {
    return Status(Code::kBadValue, StrCat("no chunk has exactly the bounds ", bson::ToShell(*selector.bounds)));
  }
  return chunk;
}

bool IsServersOwn(std::string_view database) {
  return database == "admin" || database == "config" || database == "local";
}

uint64_t TimestampNow(Call& call) { return call.engine.cluster_clock.Tick(); }

}  // namespace braid::commands
