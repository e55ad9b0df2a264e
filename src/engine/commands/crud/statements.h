// The statements of update and delete as they stand in commands, shared with bulkWrite and explain.
#pragma once

#include "engine/commands/arg_reader.h"
#include "engine/commands/crud/change.h"

namespace braid::commands {

/// {q, u, c, multi, upsert, arrayFilters, collation, hint}; `let` is the command's.
Result<UpdateStatement> ParseUpdateStatement(bson::View statement, const std::optional<bson::View>& let);
/// {q, limit, collation, hint}
Result<DeleteStatement> ParseDeleteStatement(bson::View statement, const std::optional<bson::View>& let);

/// Runs numbered statements one after another, collecting errors; an ordered batch ends at the first.
class StatementLoop {
 public:
  explicit StatementLoop(bool ordered) : ordered_(ordered) {}
  /// False: stop.
  bool Note(int32_t index, const Status& status);
  /// Appends writeErrors if there were any. A write conflict, which only a transaction meets, is the whole command's
  /// error.
  Status Finish(bson::Builder& reply);

 private:
  bool ordered_;
  bool any_ = false;
  Status conflict_;
  bson::Builder errors_;
};

}  // namespace braid::commands
