// IndexPath: choosing bounds field by field, and how explain shows an index and the bounds of its scan.
#include "engine/exec/plan/index_path.h"

#include <algorithm>

#include "engine/exec/plan/bounds.h"
#include "engine/exec/plan/conditions.h"
#include "engine/exec/plan/index_scan.h"

namespace braid::query::plan {
namespace {

bool Has(uint64_t bits, size_t field) { return ((bits >> field) & 1) != 0; }

std::string_view FirstComponent(std::string_view path) { return path.substr(0, path.find('.')); }

// The longest common path of two fields: "a" for "a.b" and "a.c", empty for "a" and "b".
std::string_view CommonPath(std::string_view a, std::string_view b) {
  size_t end = 0;
  size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) {
    if (++i == a.size() || i == b.size() || a[i] == '.') {
      if ((i == a.size() || a[i] == '.') && (i == b.size() || b[i] == '.')) end = i;
    }
  }
  return a.substr(0, end);
}

// Fewer and narrower is better.
size_t Width(const FieldBounds& bounds) {
  constexpr size_t kRange = 100'000;
  if (IsAll(bounds.intervals)) return 10 * kRange;
  const bool points = std::ranges::all_of(bounds.intervals, [](const Interval& i) { return i.IsPoint(); });
  return (points ? 0 : kRange) + 2 * bounds.intervals.size() + (bounds.exact ? 0 : 1);
}

// The keys of an index that is not unique end with the key of _id, which no collation applies to.
bool EndsWithId(const IndexPath& path) {
  return !path.clustered && !path.index->spec.unique && path.collation() == nullptr;
}

class Chooser {
 public:
  Chooser(IndexPath* path, const Conditions& conditions, const bson::Collation* query_collation)
      : path_(path), conditions_(conditions), query_collation_(query_collation) {}

  void Run() {
    const auto& fields = path_->index->spec.fields;
    consumed_.assign(conditions_.conjuncts.size(), false);
    chosen_.assign(fields.size(), nullptr);
    for (size_t i = 0; i < fields.size(); ++i) {
      path_->fields.push_back(Has(path_->multikey, i) ? One(i) : All(i));
    }
    for (size_t c = 0; c < conditions_.conjuncts.size(); ++c) {
      if (!consumed_[c]) path_->residual.push_back(conditions_.conjuncts[c]);
    }
  }

 private:
  FieldTraits Traits(size_t i) const {
    const bson::Collation* collation = path_->collation();
    return {collation, bson::Collation::Same(collation, query_collation_), path_->index->spec.fields[i].hashed,
            Has(path_->multikey, i)};
  }

  // No arrays: every condition is about the one value, all hold at once.
  Intervals All(size_t i) {
    Intervals common{Interval::All()};
    for (const Condition& condition : conditions_.list) {
      if (condition.path != path_->index->spec.fields[i].path) continue;
      std::optional<FieldBounds> bounds = BoundsOf(*condition.node, Traits(i));
      if (!bounds) continue;
      common = Intersect(common, bounds->intervals);
      if (bounds->exact && condition.scope == nullptr) consumed_[condition.conjunct] = true;
    }
    return common;
  }

  Intervals One(size_t i) {
    std::optional<FieldBounds> best;
    for (const Condition& condition : conditions_.list) {
      if (condition.path != path_->index->spec.fields[i].path || !Compatible(i, condition)) continue;
      // A sparse index has no entries for elements without the field.
      if (path_->index->spec.sparse && !ExcludesMissing(*condition.node)) continue;
      std::optional<FieldBounds> bounds = BoundsOf(*condition.node, Traits(i));
      if (!bounds || (best && Width(*best) <= Width(*bounds))) continue;
      best = std::move(bounds);
      chosen_[i] = &condition;
    }
    if (!best) return {Interval::All()};
    if (best->exact && chosen_[i]->scope == nullptr) consumed_[chosen_[i]->conjunct] = true;
    return std::move(best->intervals);
  }

  // Two fields below one array: an entry pairs values of one element, two conditions may be met by two elements.
  bool Compatible(size_t i, const Condition& condition) const {
    const auto& fields = path_->index->spec.fields;
    for (size_t j = 0; j < i; ++j) {
      if (chosen_[j] == nullptr || FirstComponent(fields[i].path) != FirstComponent(fields[j].path)) continue;
      const bool one_element = condition.scope != nullptr && condition.scope == chosen_[j]->scope &&
                               CommonPath(fields[i].path, fields[j].path) == condition.scope_path;
      if (!one_element) return false;
    }
    return true;
  }

  IndexPath* path_;
  const Conditions& conditions_;
  const bson::Collation* query_collation_;
  std::vector<bool> consumed_;            // conjuncts that the bounds decide
  std::vector<const Condition*> chosen_;  // for multikey fields
};

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

// Only the whole path is known to be multikey: for a dotted path it is not known which part is the array.
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

bool IndexPath::empty() const {
  return std::ranges::any_of(fields, [](const Intervals& field) { return field.empty(); });
}

size_t IndexPath::equalities() const {
  size_t n = 0;
  while (n < fields.size() && fields[n].size() == 1 && fields[n][0].IsPoint()) ++n;
  return n;
}

size_t IndexPath::bounded() const {
  size_t n = 0;
  while (n < fields.size() && !IsAll(fields[n])) ++n;
  return n;
}

IndexPath MakeIndexPath(std::shared_ptr<const catalog::Index> index, const Conditions& conditions,
                        const bson::Collation* query_collation) {
  IndexPath path;
  path.clustered = index->spec.is_id();
  path.multikey = path.clustered ? 0 : index->multikey.load();
  path.index = std::move(index);
  Chooser(&path, conditions, query_collation).Run();
  return path;
}

int SortDirection(const IndexPath& path, const SortPattern& sort, const bson::Collation* query_collation) {
  if (!bson::Collation::Same(path.collation(), query_collation)) return 0;
  const auto& fields = path.index->spec.fields;
  // An array sorts by its smallest or largest element, which a walk meets first if nothing bounds it.
  if (path.multikey != 0) {
    const bool alone = sort.parts().size() == 1 && sort.parts()[0].path == fields[0].path && !fields[0].hashed;
    const bool whole = !path.limits && !path.index->spec.sparse &&
                       std::ranges::all_of(path.fields, [](const Intervals& field) { return IsAll(field); });
    if (!alone || !whole) return 0;
    return sort.parts()[0].descending == fields[0].descending ? 1 : -1;
  }
  const auto fixed = [&](size_t i) {
    return !path.limits && path.fields[i].size() == 1 && path.fields[i][0].IsPoint();
  };
  int direction = 0;
  size_t next = 0;
  for (const SortPattern::Part& part : sort.parts()) {
    const auto is_part = [&](size_t i) { return fields[i].path == part.path && !fields[i].hashed; };
    bool constant = false;
    for (size_t i = 0; i < fields.size() && !constant; ++i) constant = is_part(i) && fixed(i);
    if (constant) continue;
    while (next < fields.size() && !is_part(next) && fixed(next)) ++next;
    const bool by_id = next == fields.size() && part.path == "_id" && EndsWithId(path);
    if (!by_id && (next == fields.size() || !is_part(next))) return 0;
    const int wanted = part.descending == (!by_id && fields[next].descending) ? 1 : -1;
    if (direction != 0 && wanted != direction) return 0;
    direction = wanted;
    if (by_id) break;  // no two are alike
    ++next;
  }
  return direction == 0 ? 1 : direction;
}

bool HoldsAllMatches(const catalog::Index& index, const MatchNode& filter, const Conditions& conditions,
                     const bson::Collation* query_collation) {
  const catalog::IndexSpec& spec = index.spec;
  if (spec.sparse) {
    const bool present = std::ranges::any_of(conditions.list, [&](const Condition& condition) {
      const auto same = [&](const catalog::IndexField& field) { return field.path == condition.path; };
      return std::ranges::any_of(spec.fields, same) && ExcludesMissing(*condition.node);
    });
    if (!present) return false;
  }
  if (!spec.partial_filter) return true;
  const bool same_collation = bson::Collation::Same(spec.collation.get(), query_collation);
  return Implies(filter, spec.partial.root(), same_collation, query_collation);
}

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
