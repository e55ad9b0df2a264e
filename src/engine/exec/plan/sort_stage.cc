// SORT.
#include "engine/exec/plan/sort_stage.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "base/strings.h"
#include "base/work.h"

namespace braid::query::plan {
namespace {

constexpr size_t kSpilledBytesMin = 1u << 20;  // fewer bytes are not worth a file
constexpr size_t kSpillBufferBytes = 256 * 1024;

// At least half of the memory is free: idle rows may stay in memory.
bool IsPlentiful(const MemoryBudget& memory) { return memory.used() <= memory.limit() / 2; }

// Of a spilled row, before its sort key, document key, values and document.
struct SpilledHead {
  uint32_t key;
  uint32_t document_key;
  uint32_t values;
  uint32_t index;  // position in indexes_, plus 1; 0: none
};

}  // namespace

Sort::Sort(ShardRun& run, const SortPattern& pattern, uint64_t limit, bool keep_values, std::unique_ptr<Stage> input)
    : Stage(run, "SORT", std::move(input)), pattern_(pattern), limit_(limit), keep_values_(keep_values) {}

Status Sort::Add(std::string key, const Row& row) {
  const uint64_t number = loaded_++;
  const bool full = limit_ != 0 && entries_.size() == limit_;
  // With equal keys the one that came first stays.
  if (full && key >= entries_.front().key) return {};
  if (full) {
    std::ranges::pop_heap(entries_, std::less<>());
    BRAID_ASSERT(bytes_ >= entries_.back().bytes());
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
    BRAID_CHECK_OK(charge_.Set(context.shared().memory, bytes_));
  }
  BRAID_ASSERT(limit_ == 0 || entries_.size() <= limit_);
  // Long keys make a comparison long: others get their turn meanwhile, and the next Check() tells of an interruption.
  Work& work = Work::Current();
  std::ranges::sort(entries_, [&work](const Entry& a, const Entry& b) {
    work.GoesOn(StepsFor(std::min(a.key.size(), b.key.size())));
    return a < b;
  });
  bytes_left_ = bytes_;
  ready_ = true;
  return {};
}

Result<bool> Sort::Pull(txn::Context& context, Row* row) {
  if (!ready_) BRAID_CHECK_OK(Load(context));
  BRAID_CHECK_OK(context.Check());
  if (spilled_ != nullptr) return PullSpilled(row);
  if (next_ > 0) {  // handed out
    Entry& before = entries_[next_ - 1];
    BRAID_ASSERT(bytes_left_ >= before.bytes() - sizeof(Entry));
    bytes_left_ -= before.bytes() - sizeof(Entry);
    before = Entry{};
    BRAID_CHECK_OK(charge_.Set(context.shared().memory, bytes_left_));
  }
  BRAID_ASSERT(next_ <= entries_.size());
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

void Sort::Rest(txn::Context& context) {
  if (!ready_) return Stage::Rest(context);
  const txn::Shared& shared = context.shared();
  if (spilled_ != nullptr || next_ == entries_.size() || bytes_left_ < kSpilledBytesMin) return;
  if (shared.spill == nullptr || shared.memory == nullptr || IsPlentiful(*shared.memory)) return;
  std::unique_ptr<SpillFile> file = SpillFile::Create(*shared.spill, bytes_left_);
  if (file == nullptr || !WriteTo(*file)) return;
  spilled_ = std::move(file);
  entries_ = {};
  charge_.Set(shared.memory, kSpillBufferBytes).Ignore("less than before");
}

bool Sort::WriteTo(SpillFile& file) {
  std::string record;
  for (size_t i = next_; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    SpilledHead head{static_cast<uint32_t>(entry.key.size()), static_cast<uint32_t>(entry.document_key.size()),
                     static_cast<uint32_t>(entry.values.size()), 0};
    if (entry.index != nullptr) {
      const auto found = std::ranges::find(indexes_, entry.index);
      head.index = static_cast<uint32_t>(found - indexes_.begin() + 1);
      if (found == indexes_.end()) indexes_.push_back(entry.index);
    }
    record.assign(reinterpret_cast<const char*>(&head), sizeof(head));
    record.append(entry.key).append(entry.document_key).append(entry.values).append(entry.document);
    if (!file.Append(record)) return false;
  }
  return file.Finish();
}

Result<bool> Sort::PullSpilled(Row* row) {
  std::string_view record;
  BRAID_TRY(const bool more, spilled_->Next(&record));
  if (!more) return false;
  SpilledHead head{};
  BRAID_ASSERT(record.size() >= sizeof(head));  // as WriteTo() wrote it: SpillFile has compared its checksum
  std::memcpy(&head, record.data(), sizeof(head));
  record.remove_prefix(sizeof(head));
  const auto take = [&record](size_t size) {
    const std::string_view part = record.substr(0, size);
    record.remove_prefix(size);
    return part;
  };
  *row = Row{};
  row->has_document = true;
  row->sort_key = take(head.key);
  row->document_key = take(head.document_key);
  if (head.values > 0) row->values = bson::View(take(head.values));
  row->document = bson::View(record);
  BRAID_ASSERT(head.index <= indexes_.size());
  if (head.index > 0) row->index = indexes_[head.index - 1];
  return true;
}

Result<bool> SortKeys::Pull(txn::Context& context, Row* row) {
  BRAID_TRY(const bool more, input().Next(context, row));
  if (!more || !run_.needs_sort_key || !row->sort_key.empty()) return more;
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
