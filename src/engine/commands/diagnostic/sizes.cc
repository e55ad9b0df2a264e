#include "engine/commands/diagnostic/sizes.h"

#include "engine/commands/parts.h"

namespace braid::commands {

int64_t DocumentDiskBytes(const EngineParts& engine, const catalog::Collection& collection) {
  return static_cast<int64_t>(engine.store->ApproximateBytes(storage::DocumentRange(collection.number)));
}

int64_t IndexDiskBytes(const EngineParts& engine, const catalog::Index& index) {
  if (index.spec.is_id()) return 0;
  return static_cast<int64_t>(engine.store->ApproximateBytes(storage::IndexRange(index.number)));
}

int64_t DiskBytes(const EngineParts& engine, std::string_view database) {
  int64_t bytes = 0;
  for (const catalog::CollectionPtr& collection : engine.catalog->Collections(database)) {
    bytes += DocumentDiskBytes(engine, *collection);
    for (const auto& index : collection->indexes) bytes += IndexDiskBytes(engine, *index);
  }
  return bytes;
}

bson::Document StorageStats(const EngineParts& engine, const catalog::Collection& collection, double scale) {
  const auto scaled = [scale](int64_t bytes) { return static_cast<int64_t>(static_cast<double>(bytes) / scale); };
  const int64_t count = collection.state->documents.load();
  const int64_t bytes = collection.state->bytes.load();
  const int64_t storage = DocumentDiskBytes(engine, collection);
  int64_t index_bytes = 0;
  bson::Builder stats;
  stats.Append("size", scaled(bytes)).Append("count", count);
  if (count > 0) stats.Append("avgObjSize", bytes / count);
  stats.Append("numOrphanDocs", 0)
      .Append("storageSize", scaled(storage))
      .Append("freeStorageSize", 0)
      .Append("capped", false);
  stats.Append("nindexes", static_cast<int32_t>(collection.indexes.size()));
  stats.OpenArray("indexBuilds");
  for (const auto& index : collection.indexes) {
    if (index->building) stats.AppendNext(index->spec.name);
  }
  stats.Close().OpenObject("indexSizes");
  for (const auto& index : collection.indexes) {
    const int64_t size = IndexDiskBytes(engine, *index);
    index_bytes += size;
    stats.Append(index->spec.name, scaled(size));
  }
  stats.Close().Append("totalIndexSize", scaled(index_bytes)).Append("totalSize", scaled(storage + index_bytes));
  stats.Append("scaleFactor", static_cast<int32_t>(scale));
  return stats.Finish();
}

}  // namespace braid::commands
