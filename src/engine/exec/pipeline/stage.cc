// Stage: counting and explaining, alike for all stages; the stages that write.
#include "engine/exec/pipeline/stage.h"

#include <algorithm>

#include "base/strings.h"
#include "base/work.h"
#include "engine/bson/validate.h"
#include "engine/exec/plan/stage.h"

namespace braid::query::pipeline {
Result<bool> Stage::Next(txn::Context& context, bson::View* document) {
  if (at_end_) return false;
  Result<bool> more = Pull(context, document);
  if (!more.ok()) return more;
  if (*more) {
    ++returned_;
    BRAID_CHECK_OK(Work::Current().Tick(StepsFor(document->size())));  // most stages have copied it
    if (checks_nesting_) BRAID_CHECK_OK(CheckNesting(*document));
  } else {
    at_end_ = true;
  }
  return more;
}

bson::Document Stage::Explain(bool executed) const {
  bson::Builder out;
  out.Append(name_, specification_);
  if (executed) plan::AppendNumber(out, "nReturned", returned_);
  return out.Finish();
}

int LevelsAddedBy(const bson::Value& specification) {
  if (specification.Is(bson::Type::kArray)) {
    int most = 0;
    for (const bson::Element& item : specification.AsView()) most = std::max(most, LevelsAddedBy(item.value));
    return most + 1;
  }
  if (!specification.Is(bson::Type::kObject)) return 0;
  int most = 0;
  for (const bson::Element& field : specification.AsView()) {
    const auto components = static_cast<int>(std::ranges::count(field.name, '.')) + 1;
    most = std::max(most, components + LevelsAddedBy(field.value));
  }
  return most;
}

Status CheckNesting(bson::View document) {
  if (!bson::NestsDeeperThan(bson::Value(document), bson::kNestingMax)) return {};
  return {Code::kOverflow,
          StrCat("the pipeline made a document that is nested deeper than ", bson::kNestingMax, " levels")};
}

Result<bson::Element> SplitStage(const bson::Value& stage) {
  if (!stage.Is(bson::Type::kObject))
    return Status(Code::kTypeMismatch, "Each element of the 'pipeline' array must be an object");
  if (stage.AsView().Count() != 1) {
    return Status(Location(40323), "A pipeline stage specification object must contain exactly one field.");
  }
  return *stage.AsView().begin();
}

Status RefuseInTransaction(txn::Context& context, std::string_view stage) {
  if (!context.is_transaction()) return {};
  return {Code::kOperationNotSupportedInTransaction, StrCat("the stage ", stage, " cannot run within a transaction")};
}

Status StageMemory::Set(txn::Context& context, std::string_view stage, size_t bytes) {
  if (bytes <= kSortBytesMax) return charge_.Set(context.shared().memory, bytes);
  return {Code::kQueryExceededMemoryLimitNoDiskUseAllowed,
          StrCat(stage, " exceeded its memory limit of ", kSortBytesMax,
                 " bytes. Stages do not spill to disk: allowDiskUse has no effect on this limit.")};
}

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
