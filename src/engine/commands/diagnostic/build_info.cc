// buildInfo, ping, whatsmyuri, listCommands: small answers about the server itself.
#include "base/strings.h"
#include "engine/bson/validate.h"
#include "engine/commands/arg_reader.h"
#include "engine/commands/command.h"
#include "engine/commands/parts.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

Result<bson::Document> RunBuildInfo(Call&) {
  bson::Builder reply;
  reply.Append("version", kMongoVersion).Append("gitVersion", "braid").OpenArray("modules").Close();
  reply.Append("allocator", "system").Append("javascriptEngine", "none").Append("sysInfo", "deprecated");
  reply.OpenArray("versionArray");
  for (std::string_view part : Split(kMongoVersion, '.')) reply.AppendNext(std::atoi(std::string(part).c_str()));
  reply.AppendNext(0).Close();
  reply.Append("bits", 64)
      .Append("debug", false)
      .Append("maxBsonObjectSize", static_cast<int32_t>(bson::kDocumentBytesMax));
  reply.OpenArray("storageEngines").AppendNext("rocksdb").Close();
  reply.OpenObject("braid").Append("version", kBraidVersion).Close();
  return reply.Finish();
}

Result<bson::Document> RunPing(Call&) { return bson::Document(); }

Result<bson::Document> RunWhatsMyUri(Call& call) { return bson::Make("you", call.client.remote); }

Result<bson::Document> RunListCommands(Call&) {
  bson::Builder reply;
  reply.OpenObject("commands");
  for (const Command* command : AllCommands()) {
    reply.OpenObject(command->name)
        .Append("help", command->help)
        .Append("adminOnly", (command->flags & kAdminOnly) != 0);
    reply.Append("requiresAuth", false).Close();
  }
  reply.Close();
  return reply.Finish();
}

constexpr uint32_t kQuick = kReadOnly | kNoOperation;

}  // namespace

constinit const Command kBuildInfo = {
    .name = "buildInfo", .flags = kQuick | kHandshake, .help = "Version and build of the server.", .run = RunBuildInfo};
constinit const Command kBuildinfo = {
    .name = "buildinfo", .flags = kQuick | kHandshake, .help = "Old name of buildInfo.", .run = RunBuildInfo};
constinit const Command kPing = {.name = "ping", .flags = kQuick, .help = "Answers.", .run = RunPing};
constinit const Command kWhatsMyUri = {
    .name = "whatsmyuri", .flags = kQuick, .help = "The client's own address.", .run = RunWhatsMyUri};
constinit const Command kListCommands = {
    .name = "listCommands", .flags = kQuick, .help = "Lists the commands.", .run = RunListCommands};
}  // namespace braid::commands
