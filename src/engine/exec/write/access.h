// WriteAccess: a collection held open for writing, whose description cannot change meanwhile.
#pragma once

#include <functional>

#include "engine/catalog/collection.h"
#include "engine/txn/context.h"

namespace braid::write {

/// Holds the gate of a collection, shared, until it is released. Not thread-safe.
class WriteAccess {
 public:
  /// Null collection if there is none and `create` is false. Within a transaction a new collection is a draft that only
  /// the transaction knows.
  static Result<WriteAccess> Open(txn::Context& context, const catalog::Namespace& ns, bool create);
  const catalog::CollectionPtr& collection() const { return collection_; }
  /// Lets go of the collection while `wait` runs: a statement that waits for a transaction, or searches for long, must
  /// not keep a change of the description waiting, behind which all writers would wait. The description may be another
  /// one afterwards; kQueryPlanKilled if the collection is gone. In a transaction either is a kWriteConflict.
  Status LetGo(txn::Context& context, const std::function<Status()>& wait);

  /// The same without waiting, if a change of the description is waiting or other requests should run (Fiber::GiveWay):
  /// for statements over many documents, after each committed batch.
  Status LetChangesIn(txn::Context& context);

 private:
  /// False if the collection is not as it was: look it up again.
  Result<bool> Hold(txn::Context& context);
  catalog::CollectionPtr collection_;
  Gate::Pass gate_;
};

}  // namespace braid::write
