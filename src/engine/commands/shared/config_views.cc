// Making the views of config, and the changes of config.collections that the shell of MongoDB makes.
#include "engine/commands/shared/config_views.h"

#include <algorithm>

#include "base/strings.h"
#include "engine/commands/parts.h"
#include "engine/commands/shared/common.h"
#include "engine/commands/shared/config_rows.h"

namespace braid::commands {
namespace {

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
