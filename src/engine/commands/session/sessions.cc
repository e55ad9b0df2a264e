// startSession, endSessions, refreshSessions, killSessions, killAllSessions: the life of logical sessions.
#include <openssl/rand.h>

#include "base/strings.h"
#include "engine/commands/arg_reader.h"
#include "engine/commands/command.h"
#include "engine/commands/parts.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

Result<std::vector<std::string>> SessionIds(const Request& request) {
  std::optional<bson::View> list;
  ArgReader reader(request);
  reader.OptionalArray(request.name, list);
  BRAID_CHECK_OK(reader.Finish());
  std::vector<std::string> ids;
  for (const auto& [position, session] : list.value_or(bson::View())) {
    const bson::Value id = session.Is(bson::Type::kObject) ? session.AsView().Find("id") : bson::Value();
    if (!id.Is(bson::Type::kBinary))
      return Status(Code::kTypeMismatch, StrCat("'", request.name, "' takes a list of {id: UUID}"));
    ids.emplace_back(id.AsBinary().bytes);
  }
  return ids;
}

// The running operations of a session are stopped; the session itself and its newest number stay, as in MongoDB.
void Kill(Call& call, const std::string& id, bool operations_too) {
  if (operations_too) call.engine.operations.KillSession(id, Code::kInterrupted);
  call.engine.cursors.KillSession(id);
  call.engine.transactions.Kill(id);
}

Result<bson::Document> RunStartSession(Call& call) {
  unsigned char id[16];
  if (RAND_bytes(id, sizeof(id)) != 1) return Status(Code::kInternalError, "the system gives no random bytes");
  id[6] = static_cast<unsigned char>((id[6] & 0x0F) | 0x40);
  id[8] = static_cast<unsigned char>((id[8] & 0x3F) | 0x80);
  const std::string_view bytes(reinterpret_cast<const char*>(id), sizeof(id));
  call.engine.sessions.Touch(bytes);
  bson::Builder reply;
  reply.OpenObject("id")
      .Append("id", bson::Binary{4, bytes})
      .Close()
      .Append("timeoutMinutes", int32_t{kSessionTimeoutMinutes});
  return reply.Finish();
}

Result<bson::Document> RunEnd(Call& call) {
  BRAID_TRY(std::vector<std::string> ids, SessionIds(call.request));
  for (const std::string& id : ids) {
    Kill(call, id, false);
    call.engine.sessions.End(id);
  }
  call.engine.transactions.Forget(ids);
  return bson::Document();
}

Result<bson::Document> RunRefresh(Call& call) {
  BRAID_TRY(std::vector<std::string> ids, SessionIds(call.request));
  for (const std::string& id : ids) call.engine.sessions.Touch(id);
  return bson::Document();
}

Result<bson::Document> RunKill(Call& call) {
  BRAID_TRY(std::vector<std::string> ids, SessionIds(call.request));
  std::vector<std::string> all;
  if (ids.empty()) call.engine.sessions.ForEach([&](std::string_view lsid, int64_t) { all.emplace_back(lsid); });
  for (const std::string& id : ids.empty() ? all : ids) {
    if (id != call.lsid) Kill(call, id, true);  // not the session that asks
  }
  return bson::Document();
}

// There are no users yet, so a list of users or patterns can only mean all sessions.
Result<bson::Document> RunKillAll(Call& call) {
  std::vector<std::string> all;
  call.engine.sessions.ForEach([&](std::string_view lsid, int64_t) { all.emplace_back(lsid); });
  for (const std::string& id : all) {
    if (id != call.lsid) Kill(call, id, true);
  }
  return bson::Document();
}

}  // namespace

constinit const Command kStartSession = {
    .name = "startSession", .flags = kReadOnly, .help = "Makes a session.", .run = RunStartSession};
constinit const Command kEndSessions = {.name = "endSessions",
                                        .flags = kReadOnly | kNoOperation,
                                        .help = "Ends sessions and closes their cursors.",
                                        .run = RunEnd};
constinit const Command kRefreshSessions = {.name = "refreshSessions",
                                            .flags = kReadOnly | kNoOperation,
                                            .help = "Keeps sessions from expiring.",
                                            .run = RunRefresh};
constinit const Command kKillSessions = {
    .name = "killSessions", .flags = kReadOnly, .help = "Stops sessions and what they run.", .run = RunKill};
constinit const Command kKillAllSessions = {
    .name = "killAllSessions", .flags = kReadOnly, .help = "Stops all sessions and what they run.", .run = RunKillAll};
constinit const Command kKillAllSessionsByPattern = {.name = "killAllSessionsByPattern",
                                                     .flags = kReadOnly,
                                                     .help = "Stops all sessions: there are no users to tell apart.",
                                                     .run = RunKillAll};
}  // namespace braid::commands
