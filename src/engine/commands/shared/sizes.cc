#include "engine/commands/shared/sizes.h"

#include <functional>

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

Result<ShardFigures> FiguresOnShard(const EngineParts& engine, const catalog::Collection& collection,
                                    storage::ShardNumber shard) {
  if (collection.rows != nullptr) return ShardFigures{collection.state->documents, collection.state->bytes};
  ShardFigures figures;
  BRAID_TRY(figures.documents, engine.store->ReadCounter(storage::CountKey(collection.number, shard), {}));
  BRAID_TRY(figures.bytes, engine.store->ReadCounter(storage::BytesKey(collection.number, shard), {}));
  return figures;
}

namespace {

struct Sizes {
  int64_t count = 0;
  int64_t bytes = 0;
  int64_t storage = 0;
};

bson::Document Show(const catalog::Collection& collection, const Sizes& sizes, double scale,
                    const std::function<int64_t(const catalog::Index&)>& index_size) {
  const auto scaled = [scale](int64_t bytes) { return static_cast<int64_t>(static_cast<double>(bytes) / scale); };
  int64_t index_bytes = 0;
  bson::Builder stats;
  stats.Append("size", scaled(sizes.bytes)).Append("count", sizes.count);
  if (sizes.count > 0) stats.Append("avgObjSize", sizes.bytes / sizes.count);
  stats.Append("numOrphanDocs", 0)
      .Append("storageSize", scaled(sizes.storage))
      .Append("freeStorageSize", 0)
      .Append("capped", !collection.options.Find("capped").missing());
  if (!collection.options.Find("capped").missing())
    stats.Append("max", 0).Append("maxSize", collection.options.Find("size"));
  stats.Append("nindexes", static_cast<int32_t>(collection.indexes.size()));
  stats.OpenArray("indexBuilds");
  for (const auto& index : collection.indexes) {
    if (index->building) stats.AppendNext(index->spec.name);
  }
  stats.Close().OpenObject("indexSizes");
  for (const auto& index : collection.indexes) {
    const int64_t size = index_size(*index);
    index_bytes += size;
    stats.Append(index->spec.name, scaled(size));
  }
  stats.Close().Append("totalIndexSize", scaled(index_bytes)).Append("totalSize", scaled(sizes.storage + index_bytes));
  stats.Append("scaleFactor", static_cast<int32_t>(scale));
  return stats.Finish();
}

}  // namespace

bson::Document StorageStats(const EngineParts& engine, const catalog::Collection& collection, double scale) {
  const Sizes sizes{collection.state->documents.load(), collection.state->bytes.load(),
                    DocumentDiskBytes(engine, collection)};
  return Show(collection, sizes, scale, [&](const catalog::Index& index) { return IndexDiskBytes(engine, index); });
}

Result<bson::Document> StorageStatsOfShard(const EngineParts& engine, const catalog::Collection& collection,
                                           storage::ShardNumber shard, double scale) {
  const auto on_disk = [&engine](const storage::Range& range) {
    return static_cast<int64_t>(engine.store->ApproximateBytes(range));
  };
  Sizes sizes;
  BRAID_TRY(const ShardFigures figures, FiguresOnShard(engine, collection, shard));
  sizes.count = figures.documents;
  sizes.bytes = figures.bytes;
  sizes.storage = on_disk(storage::DocumentRange(collection.number, shard));
  return Show(collection, sizes, scale, [&](const catalog::Index& index) {
    return index.spec.is_id() ? 0 : on_disk(storage::IndexRange(index.number, shard));
  });
}

}  // namespace braid::commands
