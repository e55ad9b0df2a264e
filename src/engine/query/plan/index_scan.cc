// IXSCAN.
#include "engine/query/plan/index_scan.h"

#include "base/strings.h"
#include "engine/storage/keys.h"

namespace braid::query::plan {

IndexScan::IndexScan(Run& run, IndexPath path, std::string_view name, uint64_t keys_max)
    : Stage(run, name),
      path_(std::move(path)),
      bounds_(KeyBounds::Make(path_, *run.collection, run.shard)),
      keys_max_(keys_max),
      document_key_(storage::DocumentPrefix(run.collection->number, run.shard)),
      document_prefix_size_(document_key_.size()) {}

void IndexScan::Open(txn::Context& context) {
  if (keys_max_ == UINT64_MAX) path_.index->uses.fetch_add(1, std::memory_order_relaxed);
  cursor_ = context.NewCursor(bounds_.range());
  path_.backward ? cursor_->SeekToLast() : cursor_->SeekToFirst();
  ++seeks_;
}

Result<bool> IndexScan::Advance(txn::Context& context) {
  if (bounds_.empty()) return false;
  if (cursor_ == nullptr) {
    Open(context);
  } else {
    path_.backward ? cursor_->Prev() : cursor_->Next();
  }
  for (; cursor_->Valid(); ++figures_.works) {
    BRAID_CHECK_OK(context.Check());
    if (keys_examined_ == keys_max_) return false;
    ++keys_examined_;
    ++run_.figures.keys_examined;
    const auto verdict =
        bounds_.contiguous() ? KeyBounds::Verdict::kInside : bounds_.Check(cursor_->key(), path_.backward, &target_);
    if (verdict == KeyBounds::Verdict::kInside) return true;
    if (verdict == KeyBounds::Verdict::kEnd) return false;
    ++seeks_;
    if (path_.backward) {
      cursor_->SeekForPrev(target_);
      if (cursor_->Valid() && cursor_->key() == target_) cursor_->Prev();
    } else {
      cursor_->Seek(target_);
    }
  }
  BRAID_CHECK_OK(cursor_->status());
  return false;
}

Status IndexScan::FillRow(Row* row) {
  *row = Row{};
  row->index = &path_;
  row->key = cursor_->key().substr(bounds_.prefix_size());
  if (path_.clustered) {
    row->document = bson::View(cursor_->value());
    row->has_document = true;
    row->document_key = cursor_->key();
    return {};
  }
  std::string_view value = cursor_->value();
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

Result<bool> IndexScan::Pull(txn::Context& context, Row* row) {
  for (;; ++figures_.works) {
    BRAID_TRY(const bool more, Advance(context));
    if (!more) {
      cursor_.reset();
      return false;
    }
    BRAID_CHECK_OK(FillRow(row));
    if (path_.multikey == 0) return true;
    ++dups_tested_;
    if (seen_.emplace(row->document_key.substr(document_prefix_size_)).second) return true;
    ++dups_dropped_;
  }
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
