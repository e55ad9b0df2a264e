#include "engine/query/pipeline/write_target.h"

#include "base/strings.h"

namespace braid::query::pipeline {

Status CheckTarget(std::string_view stage, const catalog::Namespace& target, const ForbiddenCodes& codes) {
  if (target.database == "admin" || target.database == "config" || target.database == "local")
    return {Location(codes.internal_database), StrCat("Can't ", stage, " to internal database: ", target.database)};
  if (target.collection.starts_with("system."))
    return {Location(codes.special_collection), StrCat("Can't ", stage, " to special collection: ", target.collection)};
  return {};
}

Result<bool> WriteStage::Pull(txn::Context& context, bson::View* document) {
  BRAID_CHECK_OK(RefuseInTransaction(context, name()));
  BRAID_CHECK_OK(PastSnapshot(context, [&] { return Begin(context); }));
  for (;;) {
    BRAID_CHECK_OK(context.Check());
    BRAID_TRY(const bool more, input().Next(context, document));
    if (!more) break;
    BRAID_CHECK_OK(PastSnapshot(context, [&] { return Write(context, *document); }));
  }
  BRAID_CHECK_OK(PastSnapshot(context, [&] { return Finish(context); }));
  return false;
}

}  // namespace braid::query::pipeline
