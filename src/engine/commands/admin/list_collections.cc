// listCollections: the collections of a database with their options.
#include "engine/commands/arg_reader.h"
#include "engine/commands/command.h"
#include "engine/commands/parts.h"
#include "engine/commands/shared/batch.h"
#include "engine/commands/shared/common.h"
#include "engine/commands/shared/config_views.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

bson::Document Row(const catalog::Collection& collection, bool name_only) {
  bson::Builder row;
  row.Append("name", collection.ns.collection).Append("type", "collection");
  if (name_only) return row.Finish();
  row.Append("options", collection.options);
  row.OpenObject("info").Append("readOnly", false).Append("uuid", bson::Binary{4, collection.uuid}).Close();
  row.Append("idIndex", collection.indexes.front()->spec.ToBson());
  return row.Finish();
}

Result<bson::Document> RunListCollections(Call& call) {
  bson::View filter_spec;
  bool name_only = false;
  std::optional<bson::View> cursor;
  ArgReader reader(call.request);
  reader.Ignore({"listCollections", "authorizedCollections", "rawData"});
  reader.Optional("filter", filter_spec);
  reader.Optional("nameOnly", name_only);
  reader.Optional("cursor", cursor);
  BRAID_CHECK_OK(reader.Finish());
  BRAID_TRY(auto environment, MakeEnvironment(call, nullptr, std::nullopt, std::nullopt));
  BRAID_TRY(query::Filter filter, query::Filter::Parse(filter_spec, environment));

  std::vector<bson::Document> rows;
  for (const catalog::CollectionPtr& collection : ReadableCollections(call.engine, call.request.database)) {
    const bson::Document row = Row(*collection, name_only);
    BRAID_TRY(bool matches, filter.Matches(row));
    if (matches) rows.push_back(row);
  }
  const std::string database(call.request.database);
  return ListReply(call, {database, "$cmd.listCollections"}, database + ".$cmd.listCollections", std::move(rows),
                   cursor);
}

}  // namespace

constinit const Command kListCollections = {.name = "listCollections",
                                            .flags = kReadOnly,
                                            .help = "Lists the collections of a database.",
                                            .run = RunListCollections};
}  // namespace braid::commands
