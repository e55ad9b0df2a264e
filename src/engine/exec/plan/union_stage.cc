// OR and SORT_MERGE.
#include "engine/exec/plan/union_stage.h"

#include <algorithm>

#include "base/assert.h"
#include "engine/bson/key_encoding.h"

namespace braid::query::plan {

Union::Union(ShardRun& run, std::vector<std::unique_ptr<Stage>> inputs) : Stage(run, "OR") {
  inputs_ = std::move(inputs);
}

Result<bool> Union::Pull(txn::Context& context, Row* row) {
  for (; current_ < inputs_.size(); ++figures_.works) {
    BRAID_TRY(const bool more, inputs_[current_]->Next(context, row));
    if (!more) {
      ++current_;
      continue;
    }
    ++dups_tested_;
    BRAID_TRY(const bool first, seen_.Add(context, row->document_key));
    if (first) return true;
    ++dups_dropped_;
  }
  return false;
}

void Union::Describe(bson::Builder& out, bool executed) const {
  if (!executed) return;
  AppendNumber(out, "dupsTested", dups_tested_);
  AppendNumber(out, "dupsDropped", dups_dropped_);
}

MergeScans::MergeScans(ShardRun& run, std::vector<std::unique_ptr<IndexScan>> scans, size_t fixed,
                       bson::Document pattern)
    : Stage(run, "SORT_MERGE"),
      fixed_(fixed),
      backward_(scans.front()->path().backward),
      pattern_(std::move(pattern)),
      sources_(scans.size()) {
  for (const auto& scan : scans) {
    const IndexPath& path = scan->path();
    BRAID_ASSERT(path.index == scans.front()->path().index && path.multikey == 0 && path.equalities() >= fixed);
  }
  for (size_t i = 0; i < fixed; ++i) descending_.push_back(scans.front()->path().index->spec.fields[i].descending);
  for (auto& scan : scans) inputs_.push_back(std::move(scan));
}

bool MergeScans::Later(size_t a, size_t b) const {
  return backward_ ? sources_[a].order < sources_[b].order : sources_[a].order > sources_[b].order;
}

Result<bool> MergeScans::Refill(txn::Context& context, size_t input) {
  Source& source = sources_[input];
  BRAID_TRY(const bool more, inputs_[input]->Next(context, &source.row));
  if (!more) return false;
  source.order = source.row.key;
  for (size_t i = 0; i < fixed_; ++i) source.order.remove_prefix(bson::KeySize(source.order, descending_[i]));
  heap_.push_back(input);
  std::ranges::push_heap(heap_, [this](size_t a, size_t b) { return Later(a, b); });
  return true;
}

Result<bool> MergeScans::Pull(txn::Context& context, Row* row) {
  if (!started_) {
    for (size_t i = 0; i < inputs_.size(); ++i) BRAID_CHECK_OK(Refill(context, i));
    started_ = true;
  } else if (!heap_.empty()) {
    // The row on top was handed out by the last pull; only now may its source move on.
    std::ranges::pop_heap(heap_, [this](size_t a, size_t b) { return Later(a, b); });
    const size_t input = heap_.back();
    heap_.pop_back();
    BRAID_CHECK_OK(Refill(context, input));
  }
  if (heap_.empty()) return false;
  BRAID_ASSERT(heap_.size() <= inputs_.size());  // each input has at most one row in it
  *row = sources_[heap_.front()].row;
  return true;
}

void MergeScans::Describe(bson::Builder& out, bool) const { out.Append("sortPattern", pattern_); }

}  // namespace braid::query::plan
