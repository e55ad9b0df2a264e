// hostInfo, getCmdLineOpts, connectionStatus, getLog: where and how the server runs.
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <thread>

#include "base/log.h"
#include "base/strings.h"
#include "engine/commands/arg_reader.h"
#include "engine/commands/command.h"
#include "engine/commands/parts.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

Result<bson::Document> RunHostInfo(Call& call) {
  utsname names{};
  uname(&names);
  struct sysinfo info {};
  sysinfo(&info);
  const auto memory_mb = static_cast<int64_t>(info.totalram * info.mem_unit >> 20);
  bson::Builder reply;
  reply.OpenObject("system").Append("currentTime", bson::Date{call.context.now_millis()});
  reply.Append("hostname", names.nodename)
      .Append("cpuAddrSize", 64)
      .Append("memSizeMB", memory_mb)
      .Append("memLimitMB", memory_mb);
  reply.Append("numCores", static_cast<int32_t>(std::thread::hardware_concurrency()))
      .Append("cpuArch", names.machine)
      .Append("numaEnabled", false)
      .Close();
  reply.OpenObject("os")
      .Append("type", names.sysname)
      .Append("name", names.sysname)
      .Append("version", names.release)
      .Close();
  reply.OpenObject("extra").Append("pageSize", int64_t{sysconf(_SC_PAGESIZE)}).Close();
  return reply.Finish();
}

Result<bson::Document> RunGetCmdLineOpts(Call& call) {
  const EngineOptions& options = call.engine.options;
  bson::Builder reply;
  reply.OpenArray("argv").AppendNext("braid").AppendNext("serve").Close();
  reply.OpenObject("parsed").OpenObject("net").Append("address", options.advertised_host).Close();
  reply.OpenObject("storage")
      .Append("dbPath", options.directory.string())
      .Append("cacheBytes", options.cache_bytes)
      .Close();
  reply.OpenObject("sharding").Append("shards", static_cast<int32_t>(options.shards)).Close().Close();
  return reply.Finish();
}

Result<bson::Document> RunConnectionStatus(Call& call) {
  bool show_privileges = false;
  ArgReader reader(call.request);
  reader.Ignore({"connectionStatus"});
  reader.Optional("showPrivileges", show_privileges);
  BRAID_CHECK_OK(reader.Finish());
  bson::Builder reply;
  reply.OpenObject("authInfo").OpenArray("authenticatedUsers").Close().OpenArray("authenticatedUserRoles").Close();
  if (show_privileges) reply.OpenArray("authenticatedUserPrivileges").Close();
  reply.Close();
  return reply.Finish();
}

Result<bson::Document> RunGetLog(Call& call) {
  std::string_view name;
  ArgReader reader(call.request);
  reader.Required("getLog", name);
  BRAID_CHECK_OK(reader.Finish());
  bson::Builder reply;
  if (name == "*") {
    reply.OpenArray("names").AppendNext("global").AppendNext("startupWarnings").Close();
    return reply.Finish();
  }
  if (name != "global" && name != "startupWarnings") {
    return Status(Code::kOperationFailed, StrCat("No log named '", name, "'"));
  }
  const std::vector<std::string> lines = name == "global" ? log::Recent() : std::vector<std::string>();
  reply.Append("totalLinesWritten", static_cast<int32_t>(lines.size())).OpenArray("log");
  for (const std::string& line : lines) reply.AppendNext(line);
  reply.Close();
  return reply.Finish();
}

}  // namespace

constinit const Command kHostInfo = {
    .name = "hostInfo", .flags = kReadOnly, .help = "The machine the server runs on.", .run = RunHostInfo};
constinit const Command kGetCmdLineOpts = {.name = "getCmdLineOpts",
                                           .flags = kReadOnly | kAdminOnly,
                                           .help = "The options the server was started with.",
                                           .run = RunGetCmdLineOpts};
constinit const Command kConnectionStatus = {.name = "connectionStatus",
                                             .flags = kReadOnly,
                                             .help = "Who is logged in on this connection.",
                                             .run = RunConnectionStatus};
constinit const Command kGetLog = {
    .name = "getLog", .flags = kReadOnly | kAdminOnly, .help = "The newest lines of the log.", .run = RunGetLog};
}  // namespace braid::commands
