// listShards: the shards, as config.shards has them.
#include "engine/commands/arg_reader.h"
#include "engine/commands/parts.h"
#include "engine/commands/shared/config_rows.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

Result<bson::Document> RunListShards(Call& call) {
  ArgReader reader(call.request);
  reader.Ignore({"listShards"});
  BRAID_CHECK_OK(reader.Finish());
  bson::Builder reply;
  reply.OpenArray("shards");
  for (const bson::Document& row : ShardRows(call.engine)) reply.AppendNext(row);
  reply.Close();
  return reply.Finish();
}

}  // namespace

constinit const Command kListShards = {
    .name = "listShards", .flags = kReadOnly | kAdminOnly, .help = "Lists the shards.", .run = RunListShards};
}  // namespace braid::commands
