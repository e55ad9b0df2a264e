// Changing documents: the statements under insert, update, delete, findAndModify and bulkWrite.
//
// A plain statement finds its candidates in a snapshot, then for each one: locks the document, reads its newest
// version, checks the filter again if it changed meanwhile, changes it, commits. Nothing waits while it holds a lock: a
// lock that cannot be had makes the statement commit what it has, let go of everything and try again (so there is no
// deadlock), up to maxTimeMS.
#pragma once

#include <functional>
#include <optional>
#include <shared_mutex>
#include <span>

#include "engine/commands/command.h"
#include "engine/query/plan/executor.h"
#include "engine/txn/records.h"
#include "engine/update/update.h"

namespace braid::commands {

/// A collection held open for writing: its description cannot change until this is released.
class WriteAccess {
 public:
  /// Null collection if there is none and `create` is false.
  static Result<WriteAccess> Open(Call& call, const catalog::Namespace& ns, bool create);
  const catalog::CollectionPtr& collection() const { return collection_; }
  /// Lets go of the collection while `wait` runs: whoever waits for a transaction must not keep a change of the
  /// description waiting, behind which the transaction itself would wait. The description may be another one
  /// afterwards; kQueryPlanKilled if the collection is gone.
  Status LetGo(Call& call, const std::function<Status()>& wait);

 private:
  /// False if the collection is not as it was: look it up again.
  bool Hold(Call& call);
  catalog::CollectionPtr collection_;
  std::shared_lock<std::shared_mutex> gate_;
};

/// Documents in order, committed in batches. `failed` gets the position of each that was refused and why; true from it:
/// go on. Returns how many were inserted. The first is the command's statement `first_statement`: of a retryable write
/// that is sent again, those that are done count and are not done again.
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
  /// findAndModify: called with the document before (missing: upserted) and after.
  std::function<Status(const bson::View* before, bson::View after)> seen;
  /// Called when the one document is changed or inserted, before that is committed: for retryable writes.
  std::function<void(const struct UpdateOutcome& outcome)> done;
};
struct UpdateOutcome {
  int64_t matched = 0;
  int64_t modified = 0;
  std::optional<bson::OwnedValue> upserted;  // its _id
};
Result<UpdateOutcome> RunUpdate(Call& call, const catalog::Namespace& ns, const UpdateStatement& statement);

struct DeleteStatement {
  bson::View q;
  bool multi = false;
  std::optional<bson::View> collation;
  std::optional<bson::View> let;
  bson::View sort;
  bson::Value hint;
  std::function<Status(bson::View before)> seen;
  std::function<void()> done;  // when the one document is removed, before that is committed
};
/// How many were removed.
Result<int64_t> RunDelete(Call& call, const catalog::Namespace& ns, const DeleteStatement& statement);

/// The same as a numbered statement of a command: if it is a retryable write that is sent again and was done before,
/// its first result.
Result<UpdateOutcome> RunUpdateOnce(Call& call, const catalog::Namespace& ns, UpdateStatement statement,
                                    int32_t number);
Result<int64_t> RunDeleteOnce(Call& call, const catalog::Namespace& ns, DeleteStatement statement, int32_t number);

/// A retryable write that changes many documents cannot be one: kInvalidOptions.
Status CheckRetryable(const Call& call, bool multi);

}  // namespace braid::commands
