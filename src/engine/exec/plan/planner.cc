// Planner: which indexes serve a query, alone, as a union for $or, or merged for $in with a sort.
#include "engine/exec/plan/planner.h"

#include <algorithm>
#include <limits>

#include "base/assert.h"
#include "base/strings.h"
#include "engine/exec/plan/output_stages.h"

namespace braid::query::plan {
namespace {

constexpr size_t kMergedScansMax = 100;

bool ByValue(const Intervals& field) {
  return !field.empty() && std::ranges::all_of(field, [](const Interval& i) { return i.IsPoint(); });
}

size_t LeadingByValue(const IndexPath& path) {
  size_t n = 0;
  while (n < path.fields.size() && ByValue(path.fields[n])) ++n;
  return n;
}

class Planner {
 public:
  explicit Planner(const Query& query)
      : query_(query),
        collation_(query.environment != nullptr ? query.environment->collation.get() : nullptr),
        conditions_(Conditions::Of(query.filter.root())) {}

  Result<std::vector<Access>> Run() {
    if (query_.collection == nullptr) return Only({.kind = Access::Kind::kNothing});
    BRAID_TRY(hint_, ResolveHint(query_));
    if (query_.filter.root().op() == MatchOp::kAlwaysFalse) return Only({.kind = Access::Kind::kNothing});
    if (!query_.sort.empty() && query_.sort.parts()[0].path == "$natural") {
      hint_.natural = query_.sort.parts()[0].descending ? -1 : 1;
    }
    if (query_.collection->rows != nullptr) return Rows();
    if (hint_.natural != 0) return Only(Collection(hint_.natural < 0));
    if (hint_.index != nullptr && hint_.index->ready_at > query_.read_at) return Only(Collection(false));
    if (hint_.index != nullptr) {
      AddIndex(hint_.index, true);
    } else {
      for (const auto& index : query_.collection->indexes) AddIndex(index, false);
    }
    AddUnion();
    if (accesses_.empty()) return Only(Collection(false));
    std::ranges::stable_sort(accesses_, std::greater<>(), &Access::score);
    return std::move(accesses_);
  }

 private:
  static std::vector<Access> Only(Access access) { return {std::move(access)}; }

  Access Collection(bool backward) const {
    Access access{.kind = Access::Kind::kCollection, .residual = conditions_.conjuncts, .backward = backward};
    access.sorted = query_.sort.empty() || query_.sort.parts()[0].path == "$natural";
    return access;
  }

  Result<std::vector<Access>> Rows() const {
    if (hint_.limits) {
      return Status(Code::kOptionNotSupportedOnView,
                    StrCat("min and max are not supported on ", query_.collection->ns.ToString()));
    }
    Access access = Collection(hint_.natural < 0);
    access.kind = Access::Kind::kRows;
    return Only(std::move(access));
  }

  bool Usable(const catalog::Index& index, const MatchNode& filter, const Conditions& conditions) const {
    if (index.building || index.spec.hidden || index.ready_at > query_.read_at) return false;
    return HoldsAllMatches(index, filter, conditions, collation_);
  }

  void AddIndex(const std::shared_ptr<const catalog::Index>& index, bool forced) {
    if (!forced && !Usable(*index, query_.filter.root(), conditions_)) return;
    IndexPath path = MakeIndexPath(index, conditions_, collation_);
    if (hint_.limits) {
      path.limits = hint_.limits;
      path.residual = conditions_.conjuncts;
      path.fields.assign(path.fields.size(), {Interval::All()});
    }
    Access access{.kind = Access::Kind::kIndex, .residual = path.residual};
    const int direction = query_.sort.empty() ? 0 : SortDirection(path, query_.sort, collation_);
    path.backward = direction < 0;
    access.sorted = query_.sort.empty() || direction != 0;
    const bool smaller = (index->spec.sparse || index->spec.partial_filter) && IsAskedFor(*index);
    if (!forced && path.bounded() == 0 && direction == 0 && !smaller) return;
    access.paths.push_back(std::move(path));
    if (!access.sorted) TryMerge(&access);
    access.covered = CanCover(access);
    access.score = Rate(access);
    accesses_.push_back(std::move(access));
  }

  bool IsAskedFor(const catalog::Index& index) const {
    return std::ranges::any_of(conditions_.list,
                               [&](const Condition& c) { return c.path == index.spec.fields[0].path; });
  }

  bool CanCover(const Access& access) const {
    if (!access.residual.empty() || query_.for_change || query_.projection == nullptr || query_.return_key)
      return false;
    if (query_.keeps_sort_key) return false;  // it is made from the document
    if (!access.sorted || query_.collection->has_ttl() || query_.projection->identity()) return false;
    return Covers(access.paths.front(), *query_.projection);
  }

  // {a: {$in: [1, 2]}} sorted by b over {a: 1, b: 1}: a scan for each value of a, merged by b.
  void TryMerge(Access* access) const {
    const IndexPath& path = access->paths.front();
    const size_t fixed = LeadingByValue(path);
    if (path.multikey != 0 || path.limits || fixed == 0) return;
    size_t scans = 1;
    for (size_t i = 0; i < fixed && scans <= kMergedScansMax; ++i) scans *= path.fields[i].size();
    if (scans > kMergedScansMax) return;
    std::vector<IndexPath> paths{path};
    for (size_t i = 0; i < fixed; ++i) {
      std::vector<IndexPath> split;
      for (const IndexPath& whole : paths) {
        for (const Interval& point : path.fields[i]) {
          split.push_back(whole);
          split.back().fields[i] = {point};
        }
      }
      paths = std::move(split);
    }
    const int direction = SortDirection(paths.front(), query_.sort, collation_);
    if (direction == 0 || SortsByFixed(path, fixed)) return;
    for (IndexPath& one : paths) one.backward = direction < 0;
    access->kind = Access::Kind::kMerge;
    access->fixed = fixed;
    access->sorted = true;
    access->paths = std::move(paths);
  }

  // A field with several values is not fixed for the merge as a whole.
  bool SortsByFixed(const IndexPath& path, size_t fixed) const {
    for (size_t i = 0; i < fixed; ++i) {
      if (path.fields[i].size() == 1) continue;
      for (const SortPattern::Part& part : query_.sort.parts()) {
        if (part.path == path.index->spec.fields[i].path) return true;
      }
    }
    return false;
  }

  Access::Score Rate(const Access& access) const {
    Access::Score score;
    score.indexed = true;
    score.sorted = !query_.sort.empty() && access.sorted;
    score.covered = access.covered;
    score.equalities = std::numeric_limits<size_t>::max();
    for (const IndexPath& path : access.paths) {
      const size_t equalities = path.limits ? 0 : LeadingByValue(path);
      score.equalities = std::min(score.equalities, equalities);
      score.ranges = std::max(score.ranges, path.bounded() - std::min(path.bounded(), equalities));
      score.clustered = path.clustered;
    }
    // With a limit, a walk in the right order may end soon although it skips rows: ChooseAccess tries it.
    score.bounded = query_.limit == 0 && score.equalities + score.ranges > 0;
    const IndexPath& first = access.paths.front();
    score.single = access.paths.size() == 1 && !first.limits && (first.clustered || first.index->spec.unique) &&
                   first.equalities() == first.fields.size();
    return score;
  }

  // A path for every branch of the first $or, each with the rest of the filter to narrow it.
  void AddUnion() {
    const auto either = std::ranges::find(conditions_.conjuncts, MatchOp::kOr, &MatchNode::op);
    if (either == conditions_.conjuncts.end() || hint_.limits) return;
    Access access{.kind = Access::Kind::kUnion};
    bool exact = true;
    for (const auto& branch : (*either)->children()) {
      std::optional<IndexPath> path = BestForBranch(*branch, **either);
      if (!path) return;
      exact = exact && path->residual.empty();
      access.paths.push_back(std::move(*path));
    }
    if (!exact) access.residual = conditions_.conjuncts;
    access.sorted = query_.sort.empty();
    access.score = Rate(access);
    accesses_.push_back(std::move(access));
  }

  std::optional<IndexPath> BestForBranch(const MatchNode& branch, const MatchNode& either) const {
    Conditions conditions = Conditions::Of(branch);
    for (const MatchNode* conjunct : conditions_.conjuncts) {
      if (conjunct != &either) conditions.Add(*conjunct);
    }
    std::optional<IndexPath> best;
    Access::Score best_score;
    for (const auto& index : query_.collection->indexes) {
      if (hint_.index != nullptr && hint_.index != index) continue;
      const bool usable = Usable(*index, branch, conditions) || Usable(*index, query_.filter.root(), conditions);
      if (!usable) continue;
      Access access{.kind = Access::Kind::kIndex};
      access.paths.push_back(MakeIndexPath(index, conditions, collation_));
      if (access.paths.front().bounded() == 0) continue;
      const Access::Score score = Rate(access);
      if (best && score <= best_score) continue;
      best = std::move(access.paths.front());
      best_score = score;
    }
    return best;
  }

  const Query& query_;
  const bson::Collation* collation_;
  const Conditions conditions_;
  Hint hint_;
  std::vector<Access> accesses_;
};

}  // namespace

Result<std::vector<Access>> PlanAccesses(const Query& query) {
  BRAID_TRY(std::vector<Access> accesses, Planner(query).Run());
  BRAID_ASSERT(!accesses.empty());
  return accesses;
}

bool PathsAreCurrent(const std::vector<Access>& accesses) {
  for (const Access& access : accesses) {
    for (const IndexPath& path : access.paths) {
      if (!path.clustered && path.multikey != path.index->multikey.load()) return false;
    }
  }
  return true;
}

bool AreReady(const std::vector<Access>& accesses, storage::LogPosition read_at) {
  for (const Access& access : accesses) {
    for (const IndexPath& path : access.paths) {
      if (path.index->ready_at > read_at) return false;
    }
  }
  return true;
}

}  // namespace braid::query::plan
