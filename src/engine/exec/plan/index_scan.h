// IXSCAN: the entries of an index within bounds, each document once. COUNT_SCAN is the same for counting. EntryWalk
// moves the scan over the keys.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "engine/exec/plan/key_bounds.h"
#include "engine/exec/plan/stage.h"
#include "engine/storage/store.h"

namespace braid::query::plan {

/// A walk over a range of keys. A few entries can be held as a copy, so that a short range needs no cursor of its own.
/// Views are valid until the next move. Not thread-safe.
class EntryWalk {
 public:
  bool open() const { return open_; }
  /// Goes to the first entry in this direction.
  void Open(std::unique_ptr<storage::Cursor> cursor, bool backward);
  /// As Open(), and copies the entries if they are few: then the cursor is given back, to be used again. Seek() must
  /// not follow.
  std::unique_ptr<storage::Cursor> OpenShort(std::unique_ptr<storage::Cursor> cursor, bool backward);
  void Close();  ///< releases everything; stays open, at the end

  bool Valid() const { return at_ < held_ || (cursor_ != nullptr && cursor_->Valid()); }
  std::string_view key() const;
  std::string_view value() const;
  void Next();  ///< nothing happens at the end of a walk that has no cursor any more
  /// The first entry in the direction from `target` on, backward without `target` itself.
  void Seek(std::string_view target);
  /// Why Valid() became false.
  Status status() const { return cursor_ != nullptr ? cursor_->status() : Status(); }

 private:
  static constexpr size_t kFew = 4;
  struct Held {
    size_t begin;  // in bytes_
    size_t key_size;
    size_t value_size;
  };
  void Step() { backward_ ? cursor_->Prev() : cursor_->Next(); }

  bool open_ = false;
  bool backward_ = false;
  std::unique_ptr<storage::Cursor> cursor_;  // behind what is held; null if that is all
  std::string bytes_;
  std::array<Held, kFew> entries_;
  size_t held_ = 0;
  size_t at_ = 0;
};

class IndexScan final : public Stage {
 public:
  /// The path outlives it. Ends after `keys_max` entries: for a trial.
  IndexScan(ShardRun& run, const IndexPath& path, std::string_view name = "IXSCAN", uint64_t keys_max = UINT64_MAX);
  const IndexPath& path() const { return path_; }
  Result<bool> PeekKey(txn::Context& context, SpareCursor* spare, std::string_view* key) override;

 protected:
  Result<bool> Pull(txn::Context& context, Row* row) override;
  void Describe(bson::Builder& out, bool executed) const override;

 private:
  void Open(txn::Context& context, SpareCursor* spare);
  /// Moves on to the next entry within the bounds; false at the end.
  Result<bool> Advance(txn::Context& context);
  Status FillRow(Row* row);
  /// The next entry of a document that was not met before; false at the end.
  Result<bool> FindRow(txn::Context& context, Row* row);

  const IndexPath& path_;
  const KeyBounds bounds_;
  const uint64_t keys_max_;
  EntryWalk walk_;            // not open until the first pull
  std::optional<Row> ahead_;  // was looked at by PeekKey, and is the next row
  std::string document_key_;  // begins with the prefix of the collection's documents
  size_t document_prefix_size_ = 0;
  std::string target_;
  SeenKeys seen_;  // keys of _id, if a document may have several entries
  uint64_t keys_examined_ = 0;
  uint64_t seeks_ = 0;
  uint64_t dups_tested_ = 0;
  uint64_t dups_dropped_ = 0;
};

}  // namespace braid::query::plan
