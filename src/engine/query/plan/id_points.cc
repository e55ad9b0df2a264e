#include "engine/query/plan/id_points.h"

#include <algorithm>

#include "engine/query/plan/index_scan.h"
#include "engine/storage/keys.h"
#include "engine/txn/context.h"

namespace braid::query::plan {

bool IdPoints::Serves(const IndexPath& path) {
  return path.clustered && !path.backward && !path.limits && path.fields.size() == 1 &&
         std::ranges::all_of(path.fields[0], &Interval::IsPoint);
}

IdPoints::IdPoints(Run& run, IndexPath path)
    : Stage(run, "IXSCAN"),
      path_(std::move(path)),
      key_(storage::DocumentPrefix(run.collection->number, run.shard)),
      prefix_size_(key_.size()) {}

Result<bool> IdPoints::Pull(txn::Context& context, Row* row) {
  const Intervals& points = path_.fields[0];
  if (next_ == 0) {
    path_.index->uses.fetch_add(1, std::memory_order_relaxed);
    context.FixSnapshot();  // all of one moment, as a cursor's would be
  }
  for (; next_ < points.size(); ++figures_.works) {
    BRAID_CHECK_OK(context.Check());
    key_.resize(prefix_size_);
    key_ += points[next_++].begin;
    BRAID_TRY(const bool there, context.Get(key_, &document_));
    if (!there) continue;
    ++found_;
    ++run_.figures.keys_examined;
    *row = Row{};
    row->index = &path_;
    row->document = bson::View(document_.view());
    row->has_document = true;
    row->document_key = key_;
    row->key = row->document_key.substr(prefix_size_);
    return true;
  }
  return false;
}

void IdPoints::Describe(bson::Builder& out, bool executed) const {
  DescribeIndex(path_, out);
  if (!executed) return;
  AppendNumber(out, "keysExamined", found_);
  AppendNumber(out, "seeks", next_);
  AppendNumber(out, "dupsTested", 0);
  AppendNumber(out, "dupsDropped", 0);
}

}  // namespace braid::query::plan
