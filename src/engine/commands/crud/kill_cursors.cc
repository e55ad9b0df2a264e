// killCursors: closes cursors that a client no longer needs.
#include "base/strings.h"
#include "engine/bson/number.h"
#include "engine/commands/parts.h"
#include "engine/commands/shared/common.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

Result<bson::Document> RunKillCursors(Call& call) {
  std::string_view collection;
  std::optional<bson::View> ids;
  ArgReader reader(call.request);
  reader.Collection("killCursors", collection);
  reader.OptionalArray("cursors", ids);
  reader.Check(ids.has_value(), Location(40414), "BSON field 'killCursors.cursors' is missing but a required field");
  BRAID_CHECK_OK(reader.Finish());

  const catalog::Namespace ns{std::string(call.request.database), std::string(collection)};
  bson::Builder killed;
  bson::Builder not_found;
  for (const auto& [name, id] : *ids) {
    if (!id.Is(bson::Type::kInt64)) {
      return Status(Code::kTypeMismatch, StrCat("BSON field 'killCursors.cursors.", name, "' is the wrong type '",
                                                bson::TypeName(id.type()), "', expected type 'long'"));
    }
    const bool found = call.engine.cursors.Kill(id.AsInt64(), ns) == Cursors::KillOutcome::kKilled;
    (found ? killed : not_found).AppendNext(id.AsInt64());
  }
  bson::Builder reply;
  reply.AppendArray("cursorsKilled", killed.Finish()).AppendArray("cursorsNotFound", not_found.Finish());
  reply.OpenArray("cursorsAlive").Close().OpenArray("cursorsUnknown").Close();
  return reply.Finish();
}

}  // namespace

constinit const Command kKillCursors = {
    .name = "killCursors", .flags = kReadOnly | kInTransaction, .help = "Closes cursors.", .run = RunKillCursors};
}  // namespace braid::commands
