// balancerStart, balancerStop, balancerStatus. The switch is the document "balancer" of config.settings.
#include "engine/commands/arg_reader.h"
#include "engine/commands/parts.h"
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
}  // namespace braid::commands
