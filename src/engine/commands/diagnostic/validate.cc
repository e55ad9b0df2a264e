// validate: checks that every index agrees with its collection.
#include "engine/txn/validate.h"
#include "base/strings.h"
#include "engine/commands/arg_reader.h"
#include "engine/commands/command.h"
#include "engine/commands/parts.h"
#include "engine/commands/shared/config_views.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

Result<bson::Document> RunValidate(Call& call) {
  std::string_view name;
  ArgReader reader(call.request);
  reader.Collection("validate", name);
  reader.Ignore({"full", "background", "checkBSONConformance", "metadata", "scandata"});
  reader.Refuse({"repair"}, "nothing is repaired: rebuild the index that is reported instead");
  BRAID_CHECK_OK(reader.Finish());
  BRAID_TRY(catalog::Namespace ns, catalog::Namespace::Make(call.request.database, name));
  if (IsConfigView(ns)) {
    return Status(Code::kCommandNotSupportedOnView,
                  StrCat(ns.ToString(), " is made for each read: nothing of it is stored"));
  }
  const catalog::CollectionPtr collection = call.engine.catalog->Find(ns);
  if (collection == nullptr) {
    return Status(Code::kNamespaceNotFound, StrCat("Collection '", ns.ToString(), "' does not exist to validate."));
  }
  call.context.FixSnapshot();
  const Status checked = txn::CheckIndexes(call.context, *collection);
  if (!checked.ok() && checked.code() != Code::kStorageCorrupt) return checked;
  bson::Builder reply;
  reply.Append("ns", ns.ToString()).Append("nInvalidDocuments", 0).Append("nNonCompliantDocuments", 0);
  reply.Append("nrecords", collection->state->documents.load())
      .Append("nIndexes", static_cast<int32_t>(collection->indexes.size()));
  reply.OpenObject("indexDetails");
  for (const auto& index : collection->indexes)
    reply.OpenObject(index->spec.name).Append("valid", checked.ok()).Close();
  reply.Close().Append("valid", checked.ok()).Append("repaired", false);
  reply.OpenArray("warnings").Close().OpenArray("errors");
  if (!checked.ok()) reply.AppendNext(checked.message());
  reply.Close();
  return reply.Finish();
}

}  // namespace

constinit const Command kValidate = {.name = "validate",
                                     .flags = kReadOnly | kGivesWay,
                                     .help = "Checks indexes against documents.",
                                     .run = RunValidate};
}  // namespace braid::commands
