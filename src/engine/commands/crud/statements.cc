#include "engine/commands/crud/statements.h"

#include "base/strings.h"
#include "engine/commands/crud/common.h"

namespace braid::commands {

Result<UpdateStatement> ParseUpdateStatement(bson::View statement, const std::optional<bson::View>& let) {
  UpdateStatement parsed;
  std::optional<bson::View> constants;
  ArgReader reader(statement, "update.updates");
  reader.Required("q", parsed.q);
  reader.Required("u", parsed.u);
  reader.Optional("c", constants);
  reader.Optional("multi", parsed.multi);
  reader.Optional("upsert", parsed.upsert);
  reader.Optional("arrayFilters", parsed.array_filters);
  reader.Optional("collation", parsed.collation);
  reader.Optional("hint", parsed.hint);
  reader.Ignore({"upsertSupplied", "sampleId"});
  BRAID_CHECK_OK(reader.Finish());
  if (!parsed.u.Is(bson::Type::kObject) && !parsed.u.Is(bson::Type::kArray)) {
    return Status(Code::kFailedToParse, "Update argument must be either an object or an array");
  }
  if (constants && !parsed.u.Is(bson::Type::kArray)) {
    return Status(Location(51198), "Constant values may only be specified for pipeline updates");
  }
  parsed.let = constants ? constants : let;
  return parsed;
}

Result<DeleteStatement> ParseDeleteStatement(bson::View statement, const std::optional<bson::View>& let) {
  DeleteStatement parsed;
  int64_t limit = 0;
  ArgReader reader(statement, "delete.deletes");
  reader.Required("q", parsed.q);
  reader.Required("limit", limit);
  reader.Optional("collation", parsed.collation);
  reader.Optional("hint", parsed.hint);
  reader.Ignore({"sampleId"});
  BRAID_CHECK_OK(reader.Finish());
  if (limit != 0 && limit != 1) {
    return Status(Code::kFailedToParse, StrCat("The limit field in delete objects must be 0 or 1. Got ", limit));
  }
  parsed.multi = limit == 0;
  parsed.let = let;
  return parsed;
}

bool StatementLoop::Note(int32_t index, const Status& status) {
  if (status.ok()) return true;
  if (status.code() == Code::kWriteConflict) {
    conflict_ = status;
    return false;
  }
  AppendWriteError(errors_, index, status);
  any_ = true;
  return !ordered_;
}

Status StatementLoop::Finish(bson::Builder& reply) {
  if (any_) reply.AppendArray("writeErrors", errors_.Finish());
  return conflict_;
}

}  // namespace braid::commands
