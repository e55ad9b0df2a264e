// Index builds: fill new indexes from existing documents while writers continue.
#pragma once

#include "engine/txn/context.h"

namespace braid::txn {

struct IndexBuildResult {
  size_t indexes_before = 0;
  size_t indexes_after = 0;
  bool created_collection = false;
};

/// createIndexes: identical ones are skipped, conflicting ones refused (85, 86), the rest is built together in one
/// scan. Progress in context.operation(). Writers are held up only while the index is announced. On any error
/// (duplicate, parallel arrays, killed) everything is undone.
Result<IndexBuildResult> BuildIndexes(Context& context, const catalog::Namespace& ns,
                                      const std::vector<catalog::IndexSpec>& specs);

/// The same inside a transaction, on a collection that it made itself (or that is not there yet): the indexes are part
/// of the transaction. On any other collection only what exists already is OK; the rest is
/// kOperationNotSupportedInTransaction.
Result<IndexBuildResult> BuildDraftIndexes(Context& context, const catalog::Namespace& ns,
                                           const std::vector<catalog::IndexSpec>& specs);

}  // namespace braid::txn
