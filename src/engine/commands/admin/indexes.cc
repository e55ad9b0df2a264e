// createIndexes, listIndexes, dropIndexes.
#include <algorithm>

#include "base/strings.h"
#include "engine/bson/json.h"
#include "engine/commands/arg_reader.h"
#include "engine/commands/command.h"
#include "engine/commands/parts.h"
#include "engine/commands/shared/batch.h"
#include "engine/commands/shared/common.h"
#include "engine/commands/shared/config_views.h"
#include "engine/commands/table.h"
#include "engine/txn/index_build.h"

namespace braid::commands {
namespace {

// A mongos repeats each shard's answer under `raw`.
bson::Document WithRaw(const Call& call, const catalog::Namespace& ns, bson::View fields) {
  bson::Builder reply;
  reply.OpenObject("raw");
  const catalog::CollectionPtr collection = call.engine.catalog->Find(ns);
  for (const storage::ShardNumber shard :
       collection == nullptr ? sharding::ShardNumbers{0} : collection->placement->Shards()) {
    reply.OpenObject(ShardHost(call.engine, shard)).AppendAll(fields).Append("ok", 1.0).Close();
  }
  reply.Close().AppendAll(fields);
  return reply.Finish();
}

Result<bson::Document> RunCreateIndexes(Call& call) {
  std::string_view collection;
  std::vector<bson::View> indexes;
  ArgReader reader(call.request);
  reader.Collection("createIndexes", collection);
  reader.Required("indexes", indexes);
  reader.Ignore({"commitQuorum", "ignoreUnknownIndexOptions", "rawData"});
  BRAID_CHECK_OK(reader.Finish());
  BRAID_TRY(catalog::Namespace ns, catalog::Namespace::Make(call.request.database, collection));
  BRAID_CHECK_OK(CheckNoConfigView(ns));
  BRAID_CHECK_OK(CheckNotProfile(ns));
  if (indexes.empty()) return Status(Code::kBadValue, "Must specify at least one index to create");
  catalog::CollectionPtr existing = call.context.FindDraft(ns);
  if (existing == nullptr) existing = call.engine.catalog->Find(ns);
  std::vector<catalog::IndexSpec> specs;
  for (bson::View index : indexes) {
    BRAID_TRY(catalog::IndexSpec spec,
              catalog::IndexSpec::Parse(index, existing == nullptr ? nullptr : existing->collation));
    specs.push_back(std::move(spec));
  }
  BRAID_TRY(txn::IndexBuildResult built, call.context.is_transaction() ? txn::BuildDraftIndexes(call.context, ns, specs)
                                                                       : txn::BuildIndexes(call.context, ns, specs));
  bson::Builder reply;
  reply.Append("numIndexesBefore", static_cast<int32_t>(built.indexes_before))
      .Append("numIndexesAfter", static_cast<int32_t>(built.indexes_after));
  reply.Append("createdCollectionAutomatically", built.created_collection);
  if (built.indexes_before == built.indexes_after) {
    reply.Append("note", "all indexes already exist");
  } else {
    reply.Append("commitQuorum", "votingMembers");
    const catalog::CollectionPtr collection = call.engine.catalog->Find(ns);
    const std::string note = collection == nullptr ? std::string() : UniqueNote(*collection);
    if (!note.empty()) reply.Append("note", note);
  }
  return WithRaw(call, ns, reply.Finish());
}

Result<catalog::CollectionPtr> Existing(Call& call, std::string_view collection) {
  BRAID_TRY(catalog::Namespace ns, catalog::Namespace::Make(call.request.database, collection));
  catalog::CollectionPtr found = FindReadable(call.engine, ns);
  if (found == nullptr) return Status(Code::kNamespaceNotFound, StrCat("ns does not exist: ", ns.ToString()));
  return found;
}

// The _id index of a collection that was created with clusteredIndex carries that option.
bson::Document ShownIndex(const catalog::Collection& collection, const catalog::Index& index) {
  const bson::Value clustered = collection.options.Find("clusteredIndex");
  if (!index.spec.is_id() || clustered.missing()) return index.spec.ToBson();
  bson::Builder shown;
  shown.Append("v", 2).Append("key", index.spec.key_pattern).Append("name", clustered.AsView().Find("name"));
  return shown.Append("unique", true).Append("clustered", true).Finish();
}

Result<bson::Document> RunList(Call& call) {
  std::string_view name;
  std::optional<bson::View> cursor;
  ArgReader reader(call.request);
  reader.Collection("listIndexes", name);
  reader.Optional("cursor", cursor);
  reader.Ignore({"includeBuildUUIDs", "includeIndexBuildInfo", "rawData"});
  BRAID_CHECK_OK(reader.Finish());
  BRAID_TRY(catalog::CollectionPtr collection, Existing(call, name));
  std::vector<bson::Document> rows;
  for (const auto& index : collection->indexes) {
    if (!index->building) rows.push_back(ShownIndex(*collection, *index));
  }
  return ListReply(call, collection->ns, collection->ns.ToString(), std::move(rows), cursor);
}

Status AddByName(const catalog::Collection& collection, std::string_view name, std::vector<uint32_t>* numbers) {
  const catalog::Index* index = collection.FindIndex(name);
  if (index == nullptr) return Status(Code::kIndexNotFound, StrCat("index not found with name [", name, "]"));
  if (index->spec.is_id()) return Status(Code::kInvalidOptions, "cannot drop _id index");
  numbers->push_back(index->number);
  return {};
}

Status AddByPattern(const catalog::Collection& collection, bson::View pattern, std::vector<uint32_t>* numbers) {
  const std::string wanted = bson::ToShell(pattern);
  std::vector<const catalog::Index*> found;
  for (const auto& index : collection.indexes) {
    if (bson::ToShell(index->spec.key_pattern) == wanted) found.push_back(index.get());
  }
  if (found.empty()) return Status(Code::kIndexNotFound, StrCat("can't find index with key: ", wanted));
  if (found.size() > 1) {
    return Status(Location(181),
                  StrCat(found.size(), " indexes found for key: ", wanted, ", identify by name instead"));
  }
  return AddByName(collection, found.front()->spec.name, numbers);
}

/// The numbers of the indexes that `index` names: a name, "*", a key pattern, or names in an array.
Status Choose(const catalog::Collection& collection, const bson::Value& index, std::vector<uint32_t>* numbers) {
  if (index.Is(bson::Type::kString) && index.AsString() == "*") {
    for (const auto& each : collection.indexes) {
      if (!each->spec.is_id()) numbers->push_back(each->number);
    }
    return {};
  }
  if (index.Is(bson::Type::kString)) return AddByName(collection, index.AsString(), numbers);
  if (index.Is(bson::Type::kObject)) return AddByPattern(collection, index.AsView(), numbers);
  if (!index.Is(bson::Type::kArray)) {
    return Status(Code::kTypeMismatch,
                  "BSON field 'dropIndexes.index' must be a string, an object or an array of strings");
  }
  for (const auto& [position, name] : index.AsView()) {
    if (!name.Is(bson::Type::kString))
      return Status(Code::kTypeMismatch, "BSON field 'dropIndexes.index' must hold strings");
    BRAID_CHECK_OK(AddByName(collection, name.AsString(), numbers));
  }
  return {};
}

/// The last index of a shard key must stay: "*" skips it, a drop by name is refused.
Status KeepShardKeyIndex(const catalog::Collection& collection, const bson::Value& index,
                         std::vector<uint32_t>* numbers) {
  if (!collection.placement->keeps_global_keys()) return {};
  catalog::Collection rest = collection;
  std::erase_if(rest.indexes, [&](const auto& each) { return std::ranges::count(*numbers, each->number) > 0; });
  if (rest.ShardKeyIndex(collection.placement->key) != nullptr) return {};
  const catalog::Index* kept = collection.ShardKeyIndex(collection.placement->key);
  if (kept == nullptr) return {};
  if (index.Is(bson::Type::kString) && index.AsString() == "*") {
    std::erase(*numbers, kept->number);
    return {};
  }
  return {Code::kCannotDropShardKeyIndex,
          StrCat("Cannot drop the only shard key index: ", kept->spec.name, " serves the key ",
                 bson::ToShell(collection.placement->key.pattern()))};
}

Result<bson::Document> RunDropIndexes(Call& call) {
  std::string_view name;
  bson::Value index;
  ArgReader reader(call.request);
  reader.Collection(call.request.name, name);
  reader.Required("index", index);
  reader.Ignore({"rawData"});
  BRAID_CHECK_OK(reader.Finish());
  BRAID_TRY(catalog::CollectionPtr collection, Existing(call, name));
  BRAID_CHECK_OK(CheckNoConfigView(collection->ns));
  std::vector<uint32_t> numbers;
  BRAID_CHECK_OK(Choose(*collection, index, &numbers));
  BRAID_CHECK_OK(KeepShardKeyIndex(*collection, index, &numbers));
  if (!numbers.empty()) {
    BRAID_TRY(catalog::Catalog::Change change,
              call.engine.catalog->RemoveIndexes(collection->ns, numbers, &call.context.operation()));
    call.context.NotePosition(change.position);
    call.engine.cursors.KillNamespace(collection->ns);
  }
  bson::Builder reply;
  reply.Append("nIndexesWas", static_cast<int32_t>(collection->indexes.size()));
  if (index.Is(bson::Type::kString) && index.AsString() == "*")
    reply.Append("msg", "non-_id indexes dropped for collection");
  return WithRaw(call, collection->ns, reply.Finish());
}

}  // namespace

constinit const Command kCreateIndexes = {
    .name = "createIndexes", .flags = kWrites | kInTransaction, .help = "Builds indexes.", .run = RunCreateIndexes};
constinit const Command kListIndexes = {
    .name = "listIndexes", .flags = kReadOnly, .help = "Lists the indexes of a collection.", .run = RunList};
constinit const Command kDropIndexes = {
    .name = "dropIndexes", .flags = kWrites, .help = "Removes indexes.", .run = RunDropIndexes};
constinit const Command kDeleteIndexes = {
    .name = "deleteIndexes", .flags = kWrites, .help = "Old name of dropIndexes.", .run = RunDropIndexes};
}  // namespace braid::commands
