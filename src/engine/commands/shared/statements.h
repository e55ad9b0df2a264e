// The statements of writes: as they stand in commands, checked and run by exec/write. Shared by insert, update, delete,
// findAndModify, bulkWrite, $out, $merge, explain and the switch of the balancer.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "engine/commands/arg_reader.h"
#include "engine/commands/command.h"
#include "engine/exec/write/write.h"

namespace braid::commands {

using write::UpdateResult;

/// Inserts documents. `failed` is called with the position of each refused document and the reason; if it returns true,
/// the insert continues. Returns how many were inserted. The first is the command's statement `first_statement`: if a
/// retryable write is sent again, statements that are already done count as inserted and are not repeated.
Result<int64_t> InsertDocuments(Call& call, const catalog::Namespace& ns, std::span<const bson::View> documents,
                                const txn::WriteOptions& options,
                                const std::function<bool(size_t, const Status&)>& failed, int32_t first_statement = 0);

struct UpdateStatement {
  bson::View q;
  bson::Value u;
  bool multi = false;
  bool upsert = false;
  std::vector<bson::View> array_filters;
  std::optional<bson::View> collation;
  std::optional<bson::View> let;
  bson::View sort;
  bson::Value hint;
  txn::WriteOptions options;
  write::SeenUpdate seen;  // for findAndModify
  write::UpdateDone done;  // for retryable writes
};
/// {q, u, c, multi, upsert, arrayFilters, collation, hint}; `let` is the command's.
Result<UpdateStatement> ParseUpdateStatement(bson::View statement, const std::optional<bson::View>& let);
Result<UpdateResult> RunUpdate(Call& call, const catalog::Namespace& ns, const UpdateStatement& statement);

struct DeleteStatement {
  bson::View q;
  bool multi = false;
  std::optional<bson::View> collation;
  std::optional<bson::View> let;
  bson::View sort;
  bson::Value hint;
  std::function<Status(bson::View before)> seen;  // for findAndModify
  std::function<void()> done;                     // for retryable writes
};
/// {q, limit, collation, hint}
Result<DeleteStatement> ParseDeleteStatement(bson::View statement, const std::optional<bson::View>& let);
/// How many were removed.
Result<int64_t> RunDelete(Call& call, const catalog::Namespace& ns, const DeleteStatement& statement);

/// The same as a numbered statement of a command: if it is a retryable write that is sent again and was done before,
/// its first result. kInvalidOptions for a retryable write that could change many documents.
Result<UpdateResult> RunRetryableUpdate(Call& call, const catalog::Namespace& ns, UpdateStatement statement,
                                        int32_t number);
Result<int64_t> RunRetryableDelete(Call& call, const catalog::Namespace& ns, DeleteStatement statement, int32_t number);

/// Runs numbered statements one after another, collecting errors; an ordered batch ends at the first.
class StatementLoop {
 public:
  explicit StatementLoop(bool ordered) : ordered_(ordered) {}
  /// False: stop.
  bool Note(int32_t index, const Status& status);
  /// Appends writeErrors if there were any. An error that ends the command (EndsCommand) is returned.
  Status Finish(bson::Builder& reply);

 private:
  bool ordered_;
  bool any_ = false;
  Status ending_;
  bson::Builder errors_;
};

}  // namespace braid::commands
