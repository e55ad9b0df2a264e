// The rows of the views of config, the views made of them, and the changes of config.collections that the shell of
// MongoDB makes.
#include "engine/commands/shared/config_views.h"

#include <algorithm>
#include <functional>

#include "base/strings.h"
#include "engine/commands/parts.h"
#include "engine/commands/shared/common.h"

namespace braid::commands {
namespace {

using Rows = std::vector<bson::Document>;

std::vector<catalog::CollectionPtr> ShardedCollections(const EngineParts& engine) {
  std::vector<catalog::CollectionPtr> sharded;
  for (catalog::CollectionPtr& collection : engine.catalog->All()) {
    if (collection->sharded()) sharded.push_back(std::move(collection));
  }
  return sharded;
}

/// Every chunk of every sharded collection, by its position in the table.
void ForEachChunk(const EngineParts& engine, const std::function<void(const catalog::Collection&, size_t)>& visit) {
  for (const catalog::CollectionPtr& collection : ShardedCollections(engine)) {
    for (size_t i = 0; i < collection->placement->chunks.size(); ++i) visit(*collection, i);
  }
}

int64_t MillisOf(uint64_t timestamp) { return static_cast<int64_t>(timestamp >> 32) * 1000; }

Rows VersionRows(const EngineParts& engine) {
  Rows rows;
  rows.push_back(bson::Make("_id", 1, "clusterId", engine.catalog->cluster().id));
  return rows;
}

// There is one router: this process.
Rows RouterRows(const EngineParts& engine) {
  const int64_t now = engine.options.clock->NowMillis();
  bson::Builder row;
  row.Append("_id", engine.options.advertised_host).OpenArray("advisoryHostFQDNs").Close();
  row.Append("created", bson::Date{engine.started_millis}).Append("mongoVersion", kMongoVersion);
  row.Append("ping", bson::Date{now}).Append("up", (now - engine.started_millis) / 1000).Append("waiting", true);
  Rows rows;
  rows.push_back(row.Finish());
  return rows;
}

Rows DatabaseRows(const EngineParts& engine) {
  const catalog::Cluster cluster = engine.catalog->cluster();
  Rows rows;
  for (const catalog::Database& database : engine.catalog->DatabaseRecords()) {
    if (database.name == "admin" || database.name == "config" || database.name == "local") continue;
    bson::Builder row;
    row.Append("_id", database.name).Append("primary", cluster.NameOf(database.primary)).OpenObject("version");
    row.Append("uuid", bson::Binary{4, database.uuid}).Append("timestamp", bson::Timestamp{database.timestamp});
    row.Append("lastMod", static_cast<int32_t>(database.moves)).Close();
    rows.push_back(row.Finish());
  }
  return rows;
}

Rows CollectionRows(const EngineParts& engine) {
  Rows rows;
  for (const catalog::CollectionPtr& collection : ShardedCollections(engine)) {
    const sharding::Placement& placement = *collection->placement;
    bson::Builder row;
    row.Append("_id", collection->ns.ToString()).Append("lastmodEpoch", placement.epoch);
    row.Append("lastmod", bson::Date{MillisOf(placement.timestamp)});
    row.Append("timestamp", bson::Timestamp{placement.timestamp}).Append("uuid", bson::Binary{4, collection->uuid});
    row.Append("key", placement.key.pattern());
    if (collection->collation != nullptr) row.Append("defaultCollation", collection->collation->spec());
    row.Append("unique", placement.unique).Append("noBalance", placement.no_balance);
    rows.push_back(row.Finish());
  }
  return rows;
}

Rows ChunkRows(const EngineParts& engine) {
  const catalog::Cluster cluster = engine.catalog->cluster();
  Rows rows;
  ForEachChunk(engine, [&](const catalog::Collection& collection, size_t i) {
    const sharding::Chunk& chunk = collection.placement->chunks[i];
    const std::string shard = cluster.NameOf(chunk.shard);
    bson::Builder row;
    row.Append("_id", chunk.id).Append("uuid", bson::Binary{4, collection.uuid});
    row.Append("min", chunk.min).Append("max", collection.placement->MaxOf(i)).Append("shard", shard);
    row.Append("lastmod", bson::Timestamp{uint64_t{chunk.major} << 32 | chunk.minor});
    row.Append("onCurrentShardSince", bson::Timestamp{chunk.since});
    row.OpenArray("history").OpenNextObject().Append("validAfter", bson::Timestamp{chunk.since});
    row.Append("shard", shard).Close().Close();
    rows.push_back(row.Finish());
  });
  return rows;
}

Rows MigrationRows(const EngineParts& engine) {
  const catalog::Cluster cluster = engine.catalog->cluster();
  Rows rows;
  ForEachChunk(engine, [&](const catalog::Collection& collection, size_t i) {
    const sharding::Chunk& chunk = collection.placement->chunks[i];
    if (!chunk.from) return;
    bson::Builder row;
    row.Append("_id", chunk.id).Append("ns", collection.ns.ToString());
    row.Append("min", chunk.min).Append("max", collection.placement->MaxOf(i));
    row.Append("fromShard", cluster.NameOf(*chunk.from)).Append("toShard", cluster.NameOf(chunk.shard));
    rows.push_back(row.Finish());
  });
  return rows;
}

constexpr std::string_view kDatabase = "config";

Rows NoRows(const EngineParts&) { return {}; }

struct ConfigView {
  std::string_view name;
  Rows (*rows)(const EngineParts& engine);
};
constexpr ConfigView kViews[] = {
    {"chunks", ChunkRows},         {"collections", CollectionRows}, {"databases", DatabaseRows}, {"locks", NoRows},
    {"migrations", MigrationRows}, {"mongos", RouterRows},          {"shards", ShardRows},       {"tags", NoRows},
    {"version", VersionRows},
};
static_assert(std::ranges::is_sorted(kViews, {}, &ConfigView::name));

const ConfigView* FindView(const catalog::Namespace& ns) {
  if (ns.database != kDatabase) return nullptr;
  const ConfigView* found = std::ranges::lower_bound(kViews, ns.collection, {}, &ConfigView::name);
  return found != std::end(kViews) && found->name == ns.collection ? found : nullptr;
}

/// The same for a view as long as the cluster lives: made of the cluster's id and the view's place in the table.
std::string UuidOf(const EngineParts& engine, const ConfigView& view) {
  std::string uuid(16, '\0');
  const bson::ObjectId cluster = engine.catalog->cluster().id;
  uuid.replace(0, sizeof(cluster.bytes), cluster.bytes, sizeof(cluster.bytes));
  uuid[6] = static_cast<char>((uuid[6] & 0x0f) | 0x40);
  uuid[8] = static_cast<char>((uuid[8] & 0x3f) | 0x80);
  uuid[15] = static_cast<char>(&view - kViews);
  return uuid;
}

catalog::CollectionPtr Make(const EngineParts& engine, const ConfigView& view) {
  static const auto id_index = [] {
    auto index = std::make_shared<catalog::Index>();
    index->spec = catalog::IndexSpec::Id(nullptr);
    return index;
  }();
  auto rows = std::make_shared<const Rows>(view.rows(engine));
  auto collection = std::make_shared<catalog::Collection>();
  collection->ns = {std::string(kDatabase), std::string(view.name)};
  collection->uuid = UuidOf(engine, view);
  collection->placement = std::make_shared<sharding::Placement>(sharding::Placement::OnOneShard(0));
  collection->indexes.push_back(id_index);
  collection->state = std::make_shared<catalog::CollectionState>();
  collection->state->documents = static_cast<int64_t>(rows->size());
  for (const bson::Document& row : *rows) collection->state->bytes += static_cast<int64_t>(row.bytes().size());
  collection->rows = std::move(rows);
  return collection;
}

/// The new value of noBalance. An error if any other field differs.
Result<bool> NewNoBalance(const catalog::Namespace& view, bson::View before, bson::View after) {
  bson::Builder expected;
  const bson::Value wanted = after.Find("noBalance");
  for (const auto& [name, value] : before) expected.Append(name, name == "noBalance" ? wanted : value);
  if (expected.Finish().bytes() != after.bytes()) return CheckNoConfigView(view);
  if (wanted.missing()) return false;
  if (!wanted.Is(bson::Type::kBool)) return Status(Code::kTypeMismatch, "noBalance must be a boolean");
  return wanted.AsBool();
}

Status SetNoBalance(Call& call, std::string_view name, bool no_balance) {
  BRAID_TRY(const catalog::Namespace ns, ParseFullName(name));
  const catalog::CollectionPtr collection = call.engine.catalog->Find(ns);
  if (collection == nullptr) return {};  // dropped meanwhile, and its row with it
  const auto set = [&](sharding::Placement* placement, storage::WriteSet&) {
    placement->no_balance = no_balance;
    return Status();
  };
  BRAID_TRY(const catalog::Catalog::Change change,
            call.engine.catalog->Place(ns, collection->number, set, &call.context.operation()));
  call.context.NotePosition(change.position);
  return {};
}

}  // namespace

std::vector<bson::Document> ShardRows(const EngineParts& engine) {
  Rows rows;
  for (const catalog::Shard& shard : engine.catalog->shards()) {
    bson::Builder row;
    row.Append("_id", shard.name).Append("host", ShardHost(engine, shard.number)).Append("state", 1);
    row.Append("topologyTime", bson::Timestamp{shard.added});
    if (shard.draining) row.Append("draining", true);
    rows.push_back(row.Finish());
  }
  return rows;
}

catalog::CollectionPtr FindReadable(const EngineParts& engine, const catalog::Namespace& ns) {
  if (const ConfigView* view = FindView(ns)) return Make(engine, *view);
  return engine.catalog->Find(ns);
}

std::vector<catalog::CollectionPtr> ReadableCollections(const EngineParts& engine, std::string_view database) {
  std::vector<catalog::CollectionPtr> collections = engine.catalog->Collections(database);
  if (database != kDatabase) return collections;
  for (const ConfigView& view : kViews) collections.push_back(Make(engine, view));
  std::ranges::sort(collections, {}, [](const catalog::CollectionPtr& c) { return c->ns.collection; });
  return collections;
}

std::vector<std::string> ReadableDatabases(const EngineParts& engine) {
  std::vector<std::string> names = engine.catalog->Databases();
  const auto place = std::ranges::lower_bound(names, kDatabase);
  if (place == names.end() || *place != kDatabase) names.emplace(place, kDatabase);
  return names;
}

bool IsConfigView(const catalog::Namespace& ns) { return FindView(ns) != nullptr; }

Status CheckNoConfigView(const catalog::Namespace& ns) {
  if (!IsConfigView(ns)) return {};
  return Status(Code::kCommandNotSupportedOnView,
                StrCat(ns.ToString(), " is a view of what the cluster is: it can be read, not changed"));
}

Result<write::UpdateResult> UpdateConfigView(Call& call, const write::Updating& updating) {
  const query::Query& query = updating.query;
  const catalog::Namespace& view = query.collection->ns;
  if (view.collection != "collections" || updating.upsert) return CheckNoConfigView(view);
  BRAID_TRY(const auto plan, query::Plan::Make(query));
  write::UpdateResult result;
  bson::View before;
  while (result.matched == 0 || updating.multi) {
    BRAID_TRY(const bool more, plan->Next(call.context, &before));
    if (!more) break;
    query::MatchDetails details;
    BRAID_CHECK_OK(query.filter.Matches(before, &details));
    BRAID_TRY(const std::optional<bson::Document> after, updating.update.Apply(before, details));
    if (after) {
      BRAID_TRY(const bool no_balance, NewNoBalance(view, before, *after));
      BRAID_CHECK_OK(SetNoBalance(call, before.Find("_id").AsString(), no_balance));
      ++result.modified;
    }
    if (updating.seen) BRAID_CHECK_OK(updating.seen(&before, after ? after->view() : before));
    ++result.matched;
  }
  return result;
}

}  // namespace braid::commands
