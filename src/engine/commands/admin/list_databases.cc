// listDatabases: names and sizes.
#include "engine/commands/arg_reader.h"
#include "engine/commands/command.h"
#include "engine/commands/parts.h"
#include "engine/commands/shared/common.h"
#include "engine/commands/shared/config_views.h"
#include "engine/commands/shared/sizes.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

Result<bson::Document> RunListDatabases(Call& call) {
  bson::View filter_spec;
  bool name_only = false;
  ArgReader reader(call.request);
  reader.Ignore({"listDatabases", "authorizedDatabases"});
  reader.Optional("filter", filter_spec);
  reader.Optional("nameOnly", name_only);
  BRAID_CHECK_OK(reader.Finish());
  BRAID_TRY(auto environment, MakeEnvironment(call, nullptr, std::nullopt, std::nullopt));
  BRAID_TRY(query::Filter filter, query::Filter::Parse(filter_spec, environment));

  bson::Builder reply;
  int64_t total = 0;
  reply.OpenArray("databases");
  for (const std::string& name : ReadableDatabases(call.engine)) {
    const int64_t size = DiskBytes(call.engine, name);
    bson::Document row =
        name_only ? bson::Make("name", name) : bson::Make("name", name, "sizeOnDisk", size, "empty", false);
    BRAID_TRY(bool matches, filter.Matches(row));
    if (!matches) continue;
    reply.AppendNext(row);
    total += size;
  }
  reply.Close();
  if (!name_only) reply.Append("totalSize", total).Append("totalSizeMb", total >> 20);
  return reply.Finish();
}

}  // namespace

constinit const Command kListDatabases = {
    .name = "listDatabases", .flags = kReadOnly | kAdminOnly, .help = "Lists the databases.", .run = RunListDatabases};
}  // namespace braid::commands
