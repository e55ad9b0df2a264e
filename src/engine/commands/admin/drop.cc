// drop, dropDatabase: remove a collection, or all of a database.
#include "engine/commands/arg_reader.h"
#include "engine/commands/command.h"
#include "engine/commands/parts.h"
#include "engine/commands/shared/config_views.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

Result<bson::Document> RunDrop(Call& call) {
  std::string_view collection;
  ArgReader reader(call.request);
  reader.Collection("drop", collection);
  reader.Refuse({"collectionUUID"}, "a collection is named, its uuid is not compared");
  BRAID_CHECK_OK(reader.Finish());
  BRAID_TRY(catalog::Namespace ns, catalog::Namespace::Make(call.request.database, collection));
  BRAID_CHECK_OK(CheckNoConfigView(ns));
  const catalog::CollectionPtr before = call.engine.catalog->Find(ns);
  if (ns.collection == kProfileCollection && call.engine.profiler.Get(ns.database).level > 0) {
    return Status(Code::kIllegalOperation, "turn off profiling before dropping system.profile collection");
  }
  if (before == nullptr) return bson::Document();  // as 7.0: dropping what is not there is fine
  BRAID_TRY(catalog::Catalog::Change change, call.engine.catalog->Drop(ns, &call.context.operation()));
  call.context.NotePosition(change.position);
  call.engine.cursors.KillNamespace(ns);
  return bson::Make("nIndexesWas", static_cast<int32_t>(before->indexes.size()), "ns", ns.ToString());
}

Result<bson::Document> RunDropDatabase(Call& call) {
  ArgReader reader(call.request);
  reader.Ignore({"dropDatabase"});
  BRAID_CHECK_OK(reader.Finish());
  const std::string_view database = call.request.database;
  if (database == "admin" || database == "config" || database == "local") {
    return Status(Code::kIllegalOperation, "Cannot drop '" + std::string(database) + "' database");
  }
  call.engine.profiler.Forget(database);
  for (const catalog::CollectionPtr& collection : call.engine.catalog->Collections(database)) {
    BRAID_TRY(catalog::Catalog::Change change, call.engine.catalog->Drop(collection->ns, &call.context.operation()));
    call.context.NotePosition(change.position);
  }
  BRAID_TRY(const storage::LogPosition position, call.engine.catalog->ForgetDatabase(database));
  call.context.NotePosition(position);
  call.engine.cursors.KillNamespace({std::string(database), ""});
  return bson::Make("dropped", database);
}

}  // namespace

constinit const Command kDrop = {.name = "drop", .flags = kWrites, .help = "Removes a collection.", .run = RunDrop};
constinit const Command kDropDatabase = {.name = "dropDatabase",
                                         .flags = kWrites,
                                         .help = "Removes a database with all its collections.",
                                         .run = RunDropDatabase};
}  // namespace braid::commands
