// Operations being run, and what is idle.
#include "engine/commands/shared/current_operations.h"

#include <chrono>

#include "base/strings.h"
#include "engine/commands/operation_record.h"
#include "engine/commands/parts.h"

namespace braid::commands {
namespace {

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
  row.Append("op", OperationKind(operation.name))
      .Append("ns", OperationNamespace(operation.database, operation.command));
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

bson::Document IdleSessionRow(const Transactions::Idle& transaction, const EngineParts& engine) {
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(transaction.open_for).count();
  bson::Builder row;
  row.Append("type", "idleSession").Append("host", engine.options.advertised_host);
  row.Append("desc", "inactive transaction").Append("connectionId", transaction.connection).Append("active", false);
  if (transaction.lsid.size() == 16) row.OpenObject("lsid").Append("id", bson::Binary{4, transaction.lsid}).Close();
  row.OpenObject("transaction").OpenObject("parameters");
  row.Append("txnNumber", transaction.number).Append("autocommit", false).Close();
  row.Append("timeOpenMicros", int64_t{micros}).Close().Append("waitingForLock", false);
  return row.Finish();
}

}  // namespace

std::vector<bson::Document> CurrentOperations(EngineParts& engine, IdleRows idle) {
  std::vector<bson::Document> rows;
  engine.operations.ForEach([&](const txn::Operation& operation) { rows.push_back(Row(operation, engine)); });
  if (idle.sessions) {
    for (const Transactions::Idle& transaction : engine.transactions.ListIdle()) {
      rows.push_back(IdleSessionRow(transaction, engine));
    }
  }
  if (idle.cursors) engine.cursors.ForEach([&](const OpenCursor& cursor) { rows.push_back(IdleCursorRow(cursor)); });
  return rows;
}

}  // namespace braid::commands
