// SORT.
#include "engine/query/plan/sort_stage.h"

#include <algorithm>

#include "base/strings.h"

namespace braid::query::plan {

Sort::Sort(Run& run, const SortPattern& pattern, uint64_t limit, bool keep_values, std::unique_ptr<Stage> input)
    : Stage(run, "SORT", std::move(input)), pattern_(pattern), limit_(limit), keep_values_(keep_values) {}

Status Sort::Add(std::string key, const Row& row) {
  const uint64_t number = loaded_++;
  const bool full = limit_ != 0 && entries_.size() == limit_;
  // With equal keys the one that came first stays.
  if (full && key >= entries_.front().key) return {};
  if (full) {
    std::ranges::pop_heap(entries_, std::less<>());
    bytes_ -= entries_.back().bytes();
    entries_.pop_back();
  }
  Entry entry;
  entry.key = std::move(key);
  entry.number = number;
  entry.document = row.document.bytes();
  entry.document_key = row.document_key;
  entry.index = row.index;
  if (keep_values_ && row.index != nullptr) entry.values = row.values.bytes();
  bytes_ += entry.bytes();
  if (bytes_ > kSortBytesMax) {
    return Status(Code::kQueryExceededMemoryLimitNoDiskUseAllowed,
                  StrCat("Sort exceeded memory limit of ", kSortBytesMax,
                         " bytes. Sorts do not spill to disk: an index in this order or a limit avoids it."));
  }
  entries_.push_back(std::move(entry));
  if (limit_ != 0) std::ranges::push_heap(entries_, std::less<>());
  return {};
}

Status Sort::Load(txn::Context& context) {
  Row row;
  for (;; ++figures_.works) {
    BRAID_TRY(const bool more, input().Next(context, &row));
    if (!more) break;
    std::string key;
    BRAID_CHECK_OK(pattern_.AppendSortKey(row.document, &key));
    BRAID_CHECK_OK(Add(std::move(key), row));
  }
  std::ranges::sort(entries_, std::less<>());
  ready_ = true;
  return {};
}

Result<bool> Sort::Pull(txn::Context& context, Row* row) {
  if (!ready_) BRAID_CHECK_OK(Load(context));
  BRAID_CHECK_OK(context.Check());
  if (next_ > 0) entries_[next_ - 1] = Entry{};  // handed out
  if (next_ == entries_.size()) return false;
  const Entry& entry = entries_[next_++];
  *row = Row{};
  row->document = bson::View(entry.document);
  row->has_document = true;
  row->document_key = entry.document_key;
  row->index = entry.index;
  if (!entry.values.empty()) row->values = bson::View(entry.values);
  row->sort_key = entry.key;
  return true;
}

Result<bool> SortKeys::Pull(txn::Context& context, Row* row) {
  BRAID_TRY(const bool more, input().Next(context, row));
  if (!more || !row->sort_key.empty()) return more;
  key_.clear();
  BRAID_CHECK_OK(pattern_.AppendSortKey(row->document, &key_));
  row->sort_key = key_;
  return true;
}

void Sort::Describe(bson::Builder& out, bool executed) const {
  out.Append("sortPattern", ToBson(pattern_));
  AppendNumber(out, "memLimit", kSortBytesMax);
  if (limit_ != 0) AppendNumber(out, "limitAmount", limit_);
  out.Append("type", "simple");
  if (!executed) return;
  AppendNumber(out, "totalDataSizeSorted", bytes_);
  out.Append("usedDisk", false);
}

bson::Document ToBson(const SortPattern& pattern) {
  bson::Builder out;
  for (const SortPattern::Part& part : pattern.parts()) out.Append(part.path, part.descending ? -1 : 1);
  return out.Finish();
}

}  // namespace braid::query::plan
