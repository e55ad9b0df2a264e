// hello, isMaster: what kind of server answers, and what it can do. The first command of every connection.
#include <algorithm>

#include "engine/bson/validate.h"
#include "engine/commands/command.h"
#include "engine/commands/parts.h"
#include "engine/commands/request.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

constexpr std::string_view kCompressors[] = {"snappy", "zlib", "zstd"};

// The first hello of a connection says what the client is and which compressors it can use.
Status NoteClient(Client& client, bson::View request) {
  if (const bson::Value metadata = request.Find("client"); !metadata.missing()) {
    if (client.said_hello) {
      return {Code::kClientMetadataCannotBeMutated, "The client metadata document may only be sent in the first hello"};
    }
    BRAID_CHECK_OK(CheckClientMetadata(metadata));
    client.metadata = bson::Document(metadata.AsView());
    if (const bson::Value application = metadata.AsView().Find("application"); application.Is(bson::Type::kObject)) {
      const bson::Value name = application.AsView().Find("name");
      if (name.Is(bson::Type::kString)) client.application = name.AsString();
    }
  }
  client.said_hello = true;
  const bson::Value offered = request.Find("compression");
  if (!offered.Is(bson::Type::kArray)) return {};
  client.compressors.clear();
  for (const auto& [position, name] : offered.AsView()) {
    if (!name.Is(bson::Type::kString)) continue;
    if (std::find(std::begin(kCompressors), std::end(kCompressors), name.AsString()) == std::end(kCompressors))
      continue;
    if (std::ranges::find(client.compressors, name.AsString()) != client.compressors.end()) continue;
    client.compressors.emplace_back(name.AsString());
  }
  return {};
}

// Any field is accepted: clients of all ages say hello.
Result<bson::Document> RunHello(Call& call) {
  const bson::View request = call.request.body;
  BRAID_CHECK_OK(NoteClient(call.client, request));
  bson::Builder reply;
  reply.Append(call.request.name == "hello" ? "isWritablePrimary" : "ismaster", true);
  if (request.Has("helloOk")) reply.Append("helloOk", true);
  reply.Append("msg", "isdbgrid").Append("maxBsonObjectSize", static_cast<int32_t>(bson::kDocumentBytesMax));
  reply.Append("maxMessageSizeBytes", int32_t{48'000'000}).Append("maxWriteBatchSize", int32_t{100'000});
  reply.Append("localTime", bson::Date{call.context.now_millis()});
  reply.Append("logicalSessionTimeoutMinutes", int32_t{kSessionTimeoutMinutes});
  reply.Append("connectionId", static_cast<int32_t>(call.client.id));
  reply.Append("maxWireVersion", kWireVersionMax).Append("minWireVersion", int32_t{0});
  if (!call.client.compressors.empty()) {
    reply.OpenArray("compression");
    for (const std::string& name : call.client.compressors) reply.AppendNext(name);
    reply.Close();
  }
  return reply.Finish();
}

constexpr uint32_t kFlags = kReadOnly | kHandshake | kNoOperation;

}  // namespace

constinit const Command kHello = {
    .name = "hello", .flags = kFlags, .help = "Who answers and what it can do.", .run = RunHello};
constinit const Command kIsMaster = {
    .name = "isMaster", .flags = kFlags, .help = "Old name of hello.", .run = RunHello};
constinit const Command kIsmaster = {
    .name = "ismaster", .flags = kFlags, .help = "Old name of hello.", .run = RunHello};
}  // namespace braid::commands
