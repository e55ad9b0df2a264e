// balancerStart, balancerStop, balancerStatus, balancerCollectionStatus. The switch is the document "balancer" of
// config.settings.
#include <algorithm>

#include "engine/commands/arg_reader.h"
#include "engine/commands/parts.h"
#include "engine/commands/sharding/common.h"
#include "engine/commands/shared/statements.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

Status SetMode(Call& call, bool on) {
  UpdateStatement statement;
  const bson::Document filter = bson::Make("_id", "balancer");
  const bson::Document update = bson::Make("$set", bson::Make("mode", on ? "full" : "off", "stopped", !on));
  statement.q = filter;
  statement.u = bson::Value(update.view());
  statement.upsert = true;
  return RunUpdate(call, {"config", "settings"}, statement).status();
}

Result<bson::Document> RunBalancerStart(Call& call) {
  ArgReader reader(call.request);
  reader.Ignore({"balancerStart"});
  BRAID_CHECK_OK(reader.Finish());
  BRAID_CHECK_OK(SetMode(call, true));
  call.engine.balancer.Wake();
  return bson::Document();
}

Result<bson::Document> RunStop(Call& call) {
  ArgReader reader(call.request);
  reader.Ignore({"balancerStop"});
  BRAID_CHECK_OK(reader.Finish());
  BRAID_CHECK_OK(SetMode(call, false));
  while (call.engine.balancer.in_round()) {  // what is under way is finished first
    BRAID_CHECK_OK(call.context.operation().WaitFor(std::chrono::milliseconds(5)));
  }
  return bson::Document();
}

Result<bson::Document> RunStatus(Call& call) {
  ArgReader reader(call.request);
  reader.Ignore({"balancerStatus"});
  BRAID_CHECK_OK(reader.Finish());
  BRAID_TRY(const bool on, call.engine.balancer.enabled());
  return bson::Make("mode", on ? "full" : "off", "inBalancerRound", call.engine.balancer.in_round(),
                    "numBalancerRounds", call.engine.balancer.rounds(), "term", int64_t{1}, "documentsMoved",
                    call.engine.balancer.documents_moved());
}

/// What is not balanced, in MongoDB's words; empty if nothing.
std::string_view Violation(const sharding::Placement& placement, const catalog::Cluster& cluster) {
  const auto drains = [&cluster](const sharding::Chunk& chunk) {
    const catalog::Shard* shard = cluster.Find(chunk.shard);
    return shard != nullptr && shard->draining;
  };
  if (std::ranges::any_of(placement.chunks, drains)) return "draining";
  return placement.is_moving() ? "chunksImbalance" : "";
}

Result<bson::Document> RunBalancerCollectionStatus(Call& call) {
  std::string_view name;
  ArgReader reader(call.request);
  reader.Required("balancerCollectionStatus", name);
  BRAID_CHECK_OK(reader.Finish());
  BRAID_TRY(const catalog::Namespace ns, ParseFullName(name));
  BRAID_TRY(const catalog::CollectionPtr collection, FindSharded(call, ns));
  const std::string_view violation = Violation(*collection->placement, call.engine.catalog->cluster());
  bson::Builder reply;
  reply.Append("balancerCompliant", violation.empty());
  if (!violation.empty()) reply.Append("firstComplianceViolation", violation);
  return reply.Finish();
}

}  // namespace

constinit const Command kBalancerStart = {.name = "balancerStart",
                                          .flags = kWrites | kAdminOnly,
                                          .help = "Lets the balancer even out the shards.",
                                          .run = RunBalancerStart};
constinit const Command kBalancerStop = {.name = "balancerStop",
                                         .flags = kWrites | kAdminOnly,
                                         .help = "Stops the balancer after the current move.",
                                         .run = RunStop};
constinit const Command kBalancerStatus = {.name = "balancerStatus",
                                           .flags = kReadOnly | kAdminOnly,
                                           .help = "Tells whether the balancer is on and what it has done.",
                                           .run = RunStatus};

constinit const Command kBalancerCollectionStatus = {.name = "balancerCollectionStatus",
                                                     .flags = kReadOnly | kAdminOnly,
                                                     .help = "Tells whether a collection is balanced.",
                                                     .run = RunBalancerCollectionStatus};

}  // namespace braid::commands
