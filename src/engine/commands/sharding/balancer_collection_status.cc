// balancerCollectionStatus: whether there is something left for the balancer to do with a collection.
#include <algorithm>

#include "engine/commands/arg_reader.h"
#include "engine/commands/parts.h"
#include "engine/commands/sharding/common.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

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

constinit const Command kBalancerCollectionStatus = {.name = "balancerCollectionStatus",
                                                     .flags = kReadOnly | kAdminOnly,
                                                     .help = "Tells whether a collection is balanced.",
                                                     .run = RunBalancerCollectionStatus};
}  // namespace braid::commands
