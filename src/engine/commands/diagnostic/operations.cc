// currentOp, killOp: what runs, and stopping it.
#include "engine/commands/diagnostic/operations.h"

#include <algorithm>
#include <chrono>

#include "base/strings.h"
#include "engine/bson/number.h"
#include "engine/commands/arg_reader.h"
#include "engine/commands/crud/common.h"
#include "engine/commands/parts.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

std::string_view KindOf(std::string_view command) {
  if (command == "insert" || command == "update" || command == "getMore")
    return command == "getMore" ? "getmore" : command;
  if (command == "delete") return "remove";
  if (command == "find") return "query";
  return "command";
}

std::string NamespaceOf(const txn::Operation& operation) {
  const bson::Value target = operation.command.empty() ? bson::Value() : operation.command.begin()->value;
  return StrCat(operation.database, ".", target.Is(bson::Type::kString) ? target.AsString() : std::string_view("$cmd"));
}

bson::Document Row(const txn::Operation& operation, const EngineParts& engine) {
  const auto micros =
      std::chrono::duration_cast<std::chrono::microseconds>(engine.options.clock->Now() - operation.started).count();
  bson::Builder row;
  row.Append("type", "op")
      .Append("host", engine.options.advertised_host)
      .Append("desc", StrCat("conn", operation.connection));
  row.Append("connectionId", operation.connection).Append("client", operation.client);
  if (!operation.application.empty()) row.Append("appName", operation.application);
  row.Append("active", true)
      .Append("opid", operation.id)
      .Append("secs_running", micros / 1'000'000)
      .Append("microsecs_running", int64_t{micros});
  row.Append("op", KindOf(operation.name)).Append("ns", NamespaceOf(operation));
  if (operation.lsid.size() == 16) row.OpenObject("lsid").Append("id", bson::Binary{4, operation.lsid}).Close();
  row.Append("command", operation.command).Append("killPending", operation.killed.load() != 0);
  if (const uint64_t total = operation.progress_total.load(); total > 0) {
    const uint64_t done = operation.progress_done.load();
    row.Append("msg", StrCat(operation.message, ": ", done, "/", total, " ", done * 100 / total, "%"));
    row.OpenObject("progress").Append("done", done).Append("total", total).Close();
  }
  return row.Finish();
}

bson::Document IdleCursorRow(const OpenCursor& cursor) {
  bson::Builder row;
  row.Append("type", "idleCursor").Append("ns", cursor.ns.ToString()).Append("active", false);
  row.OpenObject("cursor").Append("cursorId", cursor.id).Append("noCursorTimeout", cursor.no_timeout);
  row.Append("lastAccessDate", bson::Date{cursor.last_use_millis}).Append("originatingCommand", cursor.command).Close();
  return row.Finish();
}

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
  for (const bson::Document& row : CurrentOperations(call.engine, false)) {
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

std::vector<bson::Document> CurrentOperations(EngineParts& engine, bool idle_cursors) {
  std::vector<bson::Document> rows;
  engine.operations.ForEach([&](const txn::Operation& operation) { rows.push_back(Row(operation, engine)); });
  if (idle_cursors) engine.cursors.ForEach([&](const OpenCursor& cursor) { rows.push_back(IdleCursorRow(cursor)); });
  return rows;
}

constinit const Command kCurrentOp = {.name = "currentOp",
                                      .flags = kReadOnly | kAdminOnly,
                                      .help = "Lists the operations being run.",
                                      .run = RunCurrentOp};
constinit const Command kKillOp = {
    .name = "killOp", .flags = kReadOnly | kAdminOnly, .help = "Stops an operation.", .run = RunKillOp};
}  // namespace braid::commands
