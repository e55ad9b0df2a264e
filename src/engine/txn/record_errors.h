// The errors of a write that breaks a rule of the collection: duplicate keys, documents that fail validation.
#pragma once

#include "engine/catalog/collection.h"
#include "engine/txn/records.h"

namespace braid::txn {

/// E11000 with keyPattern and keyValue in the details; `values` as an index entry holds them.
Status DuplicateKey(const catalog::Collection& collection, const catalog::IndexSpec& spec, bson::View values);

/// OK, or kDocumentValidationFailure with errInfo. `before` is null for an insert. With the action "warn" it is a line
/// in the log.
Status CheckValidator(const catalog::Collection& collection, const bson::View* before, bson::View after);

}  // namespace braid::txn
