// Sizes: what collStats, dbStats, listDatabases and $collStats report.
#pragma once

#include <string_view>

#include "braid/status.h"
#include "engine/bson/value.h"
#include "engine/catalog/collection.h"

namespace braid::commands {

struct EngineParts;

/// Bytes on disk of a collection's documents, estimated by RocksDB.
int64_t DocumentDiskBytes(const EngineParts& engine, const catalog::Collection& collection);
/// Bytes on disk of one index; the _id index has none of its own: documents are clustered by _id.
int64_t IndexDiskBytes(const EngineParts& engine, const catalog::Index& index);
/// Bytes on disk of all collections of a database with their indexes.
int64_t DiskBytes(const EngineParts& engine, std::string_view database);

/// The part of a collection on one shard.
struct ShardFigures {
  int64_t documents = 0;
  int64_t bytes = 0;
};
Result<ShardFigures> FiguresOnShard(const EngineParts& engine, const catalog::Collection& collection,
                                    storage::ShardNumber shard);

/// size, count, avgObjSize, storageSize, nindexes, indexSizes, totalIndexSize, …: the fields of collStats and of
/// $collStats' storageStats.
bson::Document StorageStats(const EngineParts& engine, const catalog::Collection& collection, double scale);
/// The same of the part that lies on one shard.
Result<bson::Document> StorageStatsOfShard(const EngineParts& engine, const catalog::Collection& collection,
                                           storage::ShardNumber shard, double scale);

}  // namespace braid::commands
