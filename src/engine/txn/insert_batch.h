// InsertBatch: what the inserts of one statement share, so that many documents cost less each.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/txn/context.h"
#include "engine/txn/records.h"

namespace braid::txn {

/// Finds out whether ids are free: with one seek for all ids up to the next one that is stored, instead of a look-up
/// for each. Only for a transaction on an unsharded collection: its snapshot shows the newest version of whatever it
/// can lock. Not thread-safe; must not outlive the statement, because it keeps a cursor open.
class InsertBatch {
 public:
  explicit InsertBatch(Context& context) : context_(context) {}
  /// Looks for each id: for a single document, which is not worth a cursor.
  void UseLookUps() { look_ups_ = true; }

  /// True if neither the snapshot nor the transaction's own changes have the document, which the caller has locked.
  /// False: it may exist.
  Result<bool> IsFree(const catalog::Collection& collection, std::string_view id_key);

  // Buffers that are used again for each document.
  std::string lock_key;
  std::string entry_key;
  std::string entry_value;

 private:
  bool Applies(const catalog::Collection& collection) const;
  void Start(const catalog::Collection& collection);
  Status Search();

  Context& context_;
  bool look_ups_ = false;
  std::unique_ptr<storage::Cursor> cursor_;
  uint32_t collection_ = 0;  // that the cursor is of
  std::string prefix_;       // of its documents' keys
  std::string key_;          // of the document
  bool has_gap_ = false;
  std::string gap_begin_;  // inclusive
  std::string gap_end_;    // exclusive; empty: no end
  size_t searches_ = 0;
  size_t asked_ = 0;
};

/// As Insert() of records.h.
Status Insert(InsertBatch& batch, Context& context, const catalog::CollectionPtr& collection, bson::View document,
              const WriteOptions& options);

}  // namespace braid::txn
