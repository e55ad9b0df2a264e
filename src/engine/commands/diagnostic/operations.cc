// currentOp, killOp: what runs, and stopping it.

#include "base/strings.h"
#include "engine/bson/number.h"
#include "engine/commands/arg_reader.h"
#include "engine/commands/parts.h"
#include "engine/commands/shared/common.h"
#include "engine/commands/shared/current_operations.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

// {currentOp: 1, $ownOps, $all, …filter fields}
Result<bson::Document> RunCurrentOp(Call& call) {
  bson::Builder conditions;
  bool own = false;
  for (const auto& [name, value] : call.request.body) {
    if (name == "$ownOps") own = bson::IsTruthy(value);
    if (name == "currentOp" || name == "$ownOps" || name == "$all" || IsCommonField(name)) continue;
    conditions.Append(name, value);
  }
  BRAID_TRY(auto environment, MakeEnvironment(call, nullptr, std::nullopt, std::nullopt));
  BRAID_TRY(query::Filter filter, query::Filter::Parse(conditions.Finish(), environment));
  bson::Builder reply;
  reply.OpenArray("inprog");
  for (const bson::Document& row : CurrentOperations(call.engine, {})) {
    if (own && row.Find("connectionId").AsInt64() != call.client.id) continue;
    BRAID_TRY(bool matches, filter.Matches(row));
    if (matches) reply.AppendNext(row);
  }
  reply.Close();
  return reply.Finish();
}

Result<bson::Document> RunKillOp(Call& call) {
  bson::Value op;
  ArgReader reader(call.request);
  reader.Ignore({"killOp"});
  reader.Required("op", op);
  BRAID_CHECK_OK(reader.Finish());
  // A mongos names an operation "shard:number"; here the number alone is enough.
  int64_t id = 0;
  if (op.IsNumber()) {
    id = bson::Number::Of(op).ToInt64Clamped();
  } else if (op.Is(bson::Type::kString)) {
    const std::string_view text = op.AsString();
    id = std::atoll(std::string(text.substr(text.rfind(':') + 1)).c_str());
  } else {
    return Status(Code::kTypeMismatch, "\"op\" must be a number or a string");
  }
  const bool known = call.engine.operations.Kill(id, Code::kInterrupted);
  return bson::Make("info", known ? "attempting to kill op" : "no such operation: it may have ended already");
}

}  // namespace

constinit const Command kCurrentOp = {.name = "currentOp",
                                      .flags = kReadOnly | kAdminOnly,
                                      .help = "Lists the operations being run.",
                                      .run = RunCurrentOp};
constinit const Command kKillOp = {
    .name = "killOp", .flags = kReadOnly | kAdminOnly, .help = "Stops an operation.", .run = RunKillOp};
}  // namespace braid::commands
