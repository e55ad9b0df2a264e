// Stage: counting and explaining, alike for all stages.
#include "engine/query/pipeline/stage.h"

#include "base/strings.h"
#include "engine/query/plan/stage.h"

namespace braid::query::pipeline {

Result<bool> Stage::Next(txn::Context& context, bson::View* document) {
  if (at_end_) return false;
  Result<bool> more = Pull(context, document);
  if (!more.ok()) return more;
  if (*more) {
    ++returned_;
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

Status CheckMemory(std::string_view stage, size_t bytes) {
  if (bytes <= kSortBytesMax) return {};
  return {Code::kQueryExceededMemoryLimitNoDiskUseAllowed,
          StrCat(stage, " exceeded its memory limit of ", kSortBytesMax,
                 " bytes. Stages do not spill to disk: allowDiskUse has no effect on this limit.")};
}

}  // namespace braid::query::pipeline
