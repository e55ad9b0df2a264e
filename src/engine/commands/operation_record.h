// OperationRecord: a slow operation as a line of the log and as a document of system.profile. CommandShape: a command
// as the log may show it, with its structure but without its values.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "engine/bson/builder.h"
#include "engine/commands/request.h"
#include "engine/txn/operation.h"

namespace braid::commands {

/// "insert", "query", "update", "remove", "getmore" or "command", as MongoDB calls them.
std::string_view OperationKind(std::string_view command);
/// "db.collection"; "db.$cmd" of a command that names none.
std::string OperationNamespace(std::string_view database, bson::View command);

/// An operation at its end. Everything in it outlives the record.
struct OperationRecord {
  const txn::Operation& operation;
  const Request& request;
  const Status& outcome;
  bson::View reply;  // the fields of the command itself; empty if it failed
  std::chrono::nanoseconds duration;
  int64_t ended_millis;

  std::string ns() const;
  /// Documents that the reply holds; -1: it is not one of documents.
  int64_t returned() const;
};

/// As MongoDB's profiler writes it: op, ns, command, keysExamined, docsExamined, …, planSummary, ts, client, appName.
/// Has an _id, since every document here has. A long command is cut.
bson::Document ProfileEntry(const OperationRecord& record);

/// One line, without values of documents.
void LogSlowOperation(const OperationRecord& record);

/// { find: "orders", filter: { user: ?, total: { $gt: ? } }, sort: { total: -1 }, limit: 5 }: names, operators, sort
/// patterns and limits are shown, values of documents and filters are not. Lists are cut after a few elements, the
/// whole after `bytes_max` bytes or little more. Fields that any command may carry (lsid, comment, …) are left out.
std::string CommandShape(const Request& request, size_t bytes_max);

}  // namespace braid::commands
