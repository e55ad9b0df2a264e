// EntryWalk and IXSCAN.
#include "engine/exec/plan/index_scan.h"

#include <algorithm>

#include "base/assert.h"
#include "base/strings.h"
#include "base/work.h"
#include "engine/storage/keys.h"

namespace braid::query::plan {
namespace {

constexpr size_t kStepsOfKey = 4;  // what it takes to read one, about

}  // namespace

void EntryWalk::Open(std::unique_ptr<storage::Cursor> cursor, bool backward) {
  BRAID_ASSERT(cursor != nullptr);
  open_ = true;
  backward_ = backward;
  cursor_ = std::move(cursor);
  backward_ ? cursor_->SeekToLast() : cursor_->SeekToFirst();
}

// Entries are read forwards in either direction: to step back, RocksDB searches the memtables again.
std::unique_ptr<storage::Cursor> EntryWalk::OpenShort(std::unique_ptr<storage::Cursor> cursor, bool backward) {
  BRAID_ASSERT(cursor != nullptr && held_ == 0);
  cursor->SeekToFirst();
  for (; held_ < kFew && cursor->Valid(); cursor->Next()) {
    const std::string_view key = cursor->key();
    const std::string_view value = cursor->value();
    entries_[held_++] = {.begin = bytes_.size(), .key_size = key.size(), .value_size = value.size()};
    bytes_.append(key).append(value);
  }
  const bool is_all = !cursor->Valid() && cursor->status().ok();
  if (!is_all && backward) {
    held_ = 0;
    bytes_.clear();
    Open(std::move(cursor), backward);
    return nullptr;
  }
  open_ = true;
  backward_ = backward;
  if (backward) std::reverse(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(held_));
  if (is_all) return cursor;
  cursor_ = std::move(cursor);
  return nullptr;
}

void EntryWalk::Close() {
  cursor_.reset();
  bytes_ = std::string();
  held_ = at_ = 0;
}

std::string_view EntryWalk::key() const {
  BRAID_ASSERT(at_ < held_ || cursor_ != nullptr);
  if (at_ == held_) return cursor_->key();
  return std::string_view(bytes_).substr(entries_[at_].begin, entries_[at_].key_size);
}

std::string_view EntryWalk::value() const {
  BRAID_ASSERT(at_ < held_ || cursor_ != nullptr);
  if (at_ == held_) return cursor_->value();
  return std::string_view(bytes_).substr(entries_[at_].begin + entries_[at_].key_size, entries_[at_].value_size);
}

void EntryWalk::Next() {
  if (at_ < held_) {
    ++at_;
  } else if (cursor_ != nullptr) {
    Step();
  }
}

void EntryWalk::Seek(std::string_view target) {
  BRAID_ASSERT(cursor_ != nullptr && held_ == 0);
  if (!backward_) {
    cursor_->Seek(target);
    return;
  }
  cursor_->SeekForPrev(target);
  if (cursor_->Valid() && cursor_->key() == target) cursor_->Prev();
}

IndexScan::IndexScan(ShardRun& run, const IndexPath& path, std::string_view name, uint64_t keys_max)
    : Stage(run, name),
      path_(path),
      bounds_(KeyBounds::Make(path_, *run.collection, run.shard)),
      keys_max_(keys_max),
      document_key_(storage::DocumentPrefix(run.collection->number, run.shard)),
      document_prefix_size_(document_key_.size()) {}

void IndexScan::Open(txn::Context& context, SpareCursor* spare) {
  if (keys_max_ == UINT64_MAX) path_.index->uses.fetch_add(1, std::memory_order_relaxed);
  auto cursor = context.NewCursor(bounds_.range(), spare == nullptr ? nullptr : std::move(spare->cursor));
  // Documents are too large to be copied, and other bounds need the cursor to skip.
  if (spare != nullptr && spare->ranges_are_short && !path_.clustered && bounds_.contiguous()) {
    spare->cursor = walk_.OpenShort(std::move(cursor), path_.backward);
    spare->ranges_are_short = spare->cursor != nullptr;
  } else {
    walk_.Open(std::move(cursor), path_.backward);
  }
  ++seeks_;
}

Result<bool> IndexScan::Advance(txn::Context& context) {
  if (bounds_.empty()) return false;
  if (!walk_.open()) {
    Open(context, nullptr);
  } else if (keys_examined_ > 0) {
    walk_.Next();
  }
  for (; walk_.Valid(); ++figures_.works) {
    BRAID_CHECK_OK(context.Check());
    BRAID_CHECK_OK(Work::Current().Tick(kStepsOfKey));
    if (keys_examined_ == keys_max_) return false;
    ++keys_examined_;
    ++run_.figures.keys_examined;
    const auto verdict =
        bounds_.contiguous() ? KeyBounds::Verdict::kInside : bounds_.Check(walk_.key(), path_.backward, &target_);
    if (verdict == KeyBounds::Verdict::kInside) return true;
    if (verdict == KeyBounds::Verdict::kEnd) return false;
    ++seeks_;
    walk_.Seek(target_);
  }
  BRAID_CHECK_OK(walk_.status());
  return false;
}

Status IndexScan::FillRow(Row* row) {
  *row = Row{};
  row->index = &path_;
  row->key = walk_.key().substr(bounds_.prefix_size());
  if (path_.clustered) {
    row->document = bson::View(walk_.value());
    row->has_document = true;
    row->document_key = walk_.key();
    return {};
  }
  std::string_view value = walk_.value();
  const auto damaged = [&] {
    return Status(Code::kStorageCorrupt, StrCat("an entry of the index ", path_.index->spec.name, " of ",
                                                run_.collection->ns.ToString(), " is malformed"));
  };
  if (value.size() < 4) return damaged();
  const auto id_size = bson::Load<uint32_t>(value.data());
  value.remove_prefix(4);
  if (id_size > (path_.index->spec.unique ? value.size() : row->key.size())) return damaged();
  document_key_.resize(document_prefix_size_);
  if (path_.index->spec.unique) {
    document_key_.append(value.substr(0, id_size));
    value.remove_prefix(id_size);
  } else {
    document_key_.append(row->key.substr(row->key.size() - id_size));
  }
  if (value.size() < 5) return damaged();
  row->document_key = document_key_;
  row->values = bson::View(value);
  return {};
}

Result<bool> IndexScan::FindRow(txn::Context& context, Row* row) {
  for (;; ++figures_.works) {
    BRAID_TRY(const bool more, Advance(context));
    if (!more) {
      walk_.Close();
      return false;
    }
    BRAID_CHECK_OK(FillRow(row));
    if (path_.multikey == 0) return true;
    ++dups_tested_;
    BRAID_TRY(const bool first, seen_.Add(context, row->document_key.substr(document_prefix_size_)));
    if (first) return true;
    ++dups_dropped_;
  }
}

Result<bool> IndexScan::PeekKey(txn::Context& context, SpareCursor* spare, std::string_view* key) {
  if (!ahead_) {
    if (!walk_.open() && !bounds_.empty()) Open(context, spare);
    Row row;
    BRAID_TRY(const bool more, FindRow(context, &row));
    if (!more) return false;
    ahead_ = row;
  }
  *key = ahead_->key;
  return true;
}

Result<bool> IndexScan::Pull(txn::Context& context, Row* row) {
  if (!ahead_) return FindRow(context, row);
  *row = *ahead_;
  ahead_.reset();
  return true;
}

void IndexScan::Describe(bson::Builder& out, bool executed) const {
  DescribeIndex(path_, out);
  if (!executed) return;
  AppendNumber(out, "keysExamined", keys_examined_);
  AppendNumber(out, "seeks", seeks_);
  AppendNumber(out, "dupsTested", dups_tested_);
  AppendNumber(out, "dupsDropped", dups_dropped_);
}

}  // namespace braid::query::plan
