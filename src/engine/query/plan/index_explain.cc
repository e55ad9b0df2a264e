// How explain shows an index and the bounds of its scan.
#include <algorithm>

#include "engine/query/plan/index_scan.h"

namespace braid::query::plan {
namespace {

void DescribeBounds(const IndexPath& path, bson::Builder& out) {
  out.OpenObject("indexBounds");
  if (path.limits) {
    if (path.limits->min) out.Append("startKey", *path.limits->min).Append("startKeyInclusive", true);
    if (path.limits->max) out.Append("endKey", *path.limits->max).Append("endKeyInclusive", false);
    out.Close();
    return;
  }
  for (size_t i = 0; i < path.fields.size(); ++i) {
    const catalog::IndexField& field = path.index->spec.fields[i];
    const bool reversed = field.descending != path.backward;
    out.OpenArray(field.path);
    const Intervals& intervals = path.fields[i];
    for (size_t n = 0; n < intervals.size(); ++n) {
      out.AppendNext(intervals[reversed ? intervals.size() - 1 - n : n].ToString(reversed));
    }
    out.Close();
  }
  out.Close();
}

// Known only as far as the path of the field: for a dotted one it is not told which part is the array.
void DescribeMultikeyPaths(const IndexPath& path, bson::Builder& out) {
  const auto& fields = path.index->spec.fields;
  const auto has_array = [&](size_t i) { return ((path.multikey >> i) & 1) != 0; };
  for (size_t i = 0; i < fields.size(); ++i) {
    if (has_array(i) && fields[i].path.find('.') != std::string::npos) return;
  }
  out.OpenObject("multiKeyPaths");
  for (size_t i = 0; i < fields.size(); ++i) {
    out.OpenArray(fields[i].path);
    if (has_array(i)) out.AppendNext(fields[i].path);
    out.Close();
  }
  out.Close();
}

}  // namespace

void DescribeIndex(const IndexPath& path, bson::Builder& out) {
  const catalog::IndexSpec& spec = path.index->spec;
  out.Append("keyPattern", spec.key_pattern).Append("indexName", spec.name);
  if (spec.collation != nullptr) out.Append("collation", spec.collation->spec());
  out.Append("isMultiKey", path.multikey != 0);
  DescribeMultikeyPaths(path, out);
  out.Append("isUnique", spec.unique || spec.is_id()).Append("isSparse", spec.sparse);
  out.Append("isPartial", spec.partial_filter.has_value()).Append("indexVersion", 2);
  out.Append("direction", path.backward ? "backward" : "forward");
  DescribeBounds(path, out);
}

}  // namespace braid::query::plan
