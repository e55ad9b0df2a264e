// Inserting, updating and deleting documents, for insert, update, delete, findAndModify, bulkWrite, $out and $merge.
// The caller has parsed and checked everything.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "engine/exec/write/changer.h"
#include "engine/language/update/update.h"
#include "engine/txn/records.h"

namespace braid::write {

struct Insertion {
  std::span<const bson::View> documents;
  txn::WriteOptions options;
  /// Called with the position of each refused document and the reason; if it returns true, the insert continues.
  std::function<bool(size_t position, const Status& status)> failed;
  /// True if the document was inserted when the same write was sent before: it counts and is not inserted again. May be
  /// empty.
  std::function<bool(size_t position)> was_done;
  /// Called when a document is inserted, before that is committed. May be empty.
  std::function<void(size_t position)> done;
};
/// Inserts the documents in order, committed in batches. Returns how many were inserted.
Result<int64_t> Insert(Writer& writer, WriteAccess& access, const Insertion& insertion);

struct UpdateResult {
  int64_t matched = 0;
  int64_t modified = 0;
  std::optional<bson::OwnedValue> upserted;  // its _id
};
/// Called with the document before (null: upserted) and after.
using SeenUpdate = std::function<Status(const bson::View* before, bson::View after)>;
/// Called when the one document is changed or inserted, before that is committed.
using UpdateDone = std::function<void(const UpdateResult& result)>;

struct Updating {
  query::Query query;
  const update::Update& update;
  bool multi = false;
  bool upsert = false;
  txn::WriteOptions options;
  SeenUpdate seen;  // may be empty
  UpdateDone done;  // may be empty
};
/// Changes the matching documents, or inserts one if none matches and `upsert` is set.
Result<UpdateResult> Update(Writer& writer, WriteAccess& access, const Updating& updating);

struct Deletion {
  query::Query query;
  bool multi = false;
  std::function<Status(bson::View before)> seen;  // may be empty
  std::function<void()> done;                     // when the one document is removed, before that is committed
};
/// Removes the matching documents. Returns how many were removed.
Result<int64_t> Delete(Writer& writer, WriteAccess& access, Deletion deletion);

/// True if the error of a statement ends the whole command: a conflict ends its transaction, an interruption ends the
/// request.
bool EndsCommand(Code code);

}  // namespace braid::write
