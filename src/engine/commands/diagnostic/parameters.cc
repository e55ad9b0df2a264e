// getParameter: the server's parameters. configureFailPoint: makes commands fail, for tests.
#include "base/strings.h"
#include "engine/bson/number.h"
#include "engine/commands/command.h"
#include "engine/commands/parts.h"
#include "engine/commands/shared/batch.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

struct Parameter {
  std::string_view name;
  void (*append)(bson::Builder& reply, const EngineParts& engine);
};

constexpr Parameter kParameters[] = {
    {"authenticationMechanisms",
     [](bson::Builder& reply, const EngineParts&) { reply.OpenArray("authenticationMechanisms").Close(); }},
    {"cursorTimeoutMillis",
     [](bson::Builder& reply, const EngineParts&) { reply.Append("cursorTimeoutMillis", kCursorTimeoutMillis); }},
    {"enableTestCommands",
     [](bson::Builder& reply, const EngineParts& engine) {
       reply.Append("enableTestCommands", engine.options.test_commands);
     }},
    {"featureCompatibilityVersion",
     [](bson::Builder& reply, const EngineParts&) {
       reply.OpenObject("featureCompatibilityVersion").Append("version", "7.0").Close();
     }},
    {"localLogicalSessionTimeoutMinutes",
     [](bson::Builder& reply, const EngineParts&) {
       reply.Append("localLogicalSessionTimeoutMinutes", int32_t{kSessionTimeoutMinutes});
     }},
    {"requireApiVersion", [](bson::Builder& reply, const EngineParts&) { reply.Append("requireApiVersion", false); }},
    {"transactionLifetimeLimitSeconds",
     [](bson::Builder& reply, const EngineParts& engine) {
       reply.Append("transactionLifetimeLimitSeconds",
                    static_cast<int32_t>(engine.options.transaction_lifetime.count()));
     }},
    {"ttlMonitorEnabled", [](bson::Builder& reply, const EngineParts&) { reply.Append("ttlMonitorEnabled", true); }},
};

bool WantsAll(const bson::Value& value) {
  return (value.Is(bson::Type::kString) && value.AsString() == "*") ||
         (value.Is(bson::Type::kObject) && bson::IsTruthy(value.AsView().Find("allParameters")));
}

// {getParameter: 1, name: 1, …} or {getParameter: "*"}.
Result<bson::Document> RunGetParameter(Call& call) {
  const bool all = WantsAll(call.request.body.begin()->value);
  bson::Builder reply;
  bool any = false;
  for (const Parameter& parameter : kParameters) {
    if (!all && !call.request.body.Has(parameter.name)) continue;
    parameter.append(reply, call.engine);
    any = true;
  }
  if (!any) return Status(Code::kInvalidOptions, "no option found to get");
  return reply.Finish();
}

Result<bson::Document> RunConfigureFailPoint(Call& call) {
  BRAID_TRY(int64_t count, call.engine.fail_points.Configure(call.request.body));
  return bson::Make("count", count);
}

}  // namespace

constinit const Command kGetParameter = {.name = "getParameter",
                                         .flags = kReadOnly | kAdminOnly,
                                         .help = "The server's parameters.",
                                         .run = RunGetParameter};
constinit const Command kConfigureFailPoint = {.name = "configureFailPoint",
                                               .flags = kAdminOnly | kTestOnly,
                                               .help = "Makes commands fail, for tests.",
                                               .run = RunConfigureFailPoint};
}  // namespace braid::commands
