// renameCollection: gives a collection another name, in the same or another database.
#include "base/strings.h"
#include "engine/commands/arg_reader.h"
#include "engine/commands/command.h"
#include "engine/commands/parts.h"
#include "engine/commands/shared/config_views.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

Result<catalog::Namespace> Full(std::string_view text) {
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos) return Status(Code::kInvalidNamespace, StrCat("Invalid namespace: ", text));
  return catalog::Namespace::Make(text.substr(0, dot), text.substr(dot + 1));
}

Result<bson::Document> RunRenameCollection(Call& call) {
  std::string_view from;
  std::string_view to;
  bool drop_target = false;
  ArgReader reader(call.request);
  reader.Required("renameCollection", from);
  reader.Required("to", to);
  reader.Optional("dropTarget", drop_target);
  reader.Ignore({"stayTemp"});
  reader.Refuse({"collectionUUID"}, "a collection is named, its uuid is not compared");
  BRAID_CHECK_OK(reader.Finish());
  BRAID_TRY(catalog::Namespace source, Full(from));
  BRAID_TRY(catalog::Namespace target, Full(to));
  BRAID_CHECK_OK(CheckNoConfigView(source));
  BRAID_CHECK_OK(CheckNoConfigView(target));
  for (const catalog::Namespace* ns : {&source, &target}) {
    if (const Status profile = CheckNotProfile(*ns); !profile.ok())
      return Status(Code::kIllegalOperation, std::string(profile.message()));
  }
  if (source == target) return Status(Code::kIllegalOperation, "Can't rename a collection to itself");
  BRAID_TRY(catalog::Catalog::Change change,
            call.engine.catalog->Rename(source, target, drop_target, &call.context.operation()));
  call.context.NotePosition(change.position);
  call.engine.cursors.KillNamespace(source);
  call.engine.cursors.KillNamespace(target);
  return bson::Document();
}

}  // namespace

constinit const Command kRenameCollection = {.name = "renameCollection",
                                             .flags = kWrites | kAdminOnly,
                                             .help = "Renames a collection.",
                                             .run = RunRenameCollection};
}  // namespace braid::commands
