// From an access to stages, in the order MongoDB stacks them.
#include "engine/query/plan/access.h"
#include "engine/query/plan/collection_scan.h"
#include "engine/query/plan/fetch.h"
#include "engine/query/plan/id_points.h"
#include "engine/query/plan/output_stages.h"
#include "engine/query/plan/row_scan.h"
#include "engine/query/plan/skip_limit.h"
#include "engine/query/plan/sort_stage.h"
#include "engine/query/plan/union_stage.h"

namespace braid::query::plan {
namespace {

std::unique_ptr<Stage> BuildScan(Run& run, const IndexPath& path) {
  if (IdPoints::Serves(path)) return std::make_unique<IdPoints>(run, path);
  return std::make_unique<IndexScan>(run, path);
}

std::unique_ptr<Stage> BuildSource(Run& run, const Query& query, const Access& access) {
  switch (access.kind) {
    case Access::Kind::kNothing: return std::make_unique<End>(run);
    case Access::Kind::kRows: return std::make_unique<RowScan>(run, access.residual, access.backward);
    case Access::Kind::kCollection: return std::make_unique<CollectionScan>(run, access.residual, access.backward);
    case Access::Kind::kIndex: return BuildScan(run, access.paths.front());
    case Access::Kind::kUnion: {
      std::vector<std::unique_ptr<Stage>> scans;
      for (const IndexPath& path : access.paths) scans.push_back(std::make_unique<IndexScan>(run, path));
      return std::make_unique<Union>(run, std::move(scans));
    }
    case Access::Kind::kMerge: {
      std::vector<std::unique_ptr<IndexScan>> scans;
      for (const IndexPath& path : access.paths) scans.push_back(std::make_unique<IndexScan>(run, path));
      return std::make_unique<MergeScans>(run, std::move(scans), access.fixed, ToBson(query.sort));
    }
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<Stage> BuildStages(Run& run, const Query& query, const Access& access) {
  const auto skip = static_cast<uint64_t>(query.skip);
  const auto limit = static_cast<uint64_t>(query.limit);
  const bool blocking = !query.sort.empty() && !access.sorted && access.kind != Access::Kind::kNothing;
  const bool from_entries =
      access.kind == Access::Kind::kIndex || access.kind == Access::Kind::kUnion || access.kind == Access::Kind::kMerge;

  std::unique_ptr<Stage> top = BuildSource(run, query, access);
  if (from_entries && !access.covered) top = std::make_unique<Fetch>(run, access.residual, std::move(top));
  if (blocking) {
    const uint64_t first = limit == 0 ? 0 : limit + skip;
    top = std::make_unique<Sort>(run, query.sort, first, query.return_key, std::move(top));
  }
  if (query.keeps_sort_key) top = std::make_unique<SortKeys>(run, query.sort, std::move(top));
  if (skip != 0) top = std::make_unique<Skip>(run, skip, std::move(top));
  if (query.return_key) {
    top = std::make_unique<ReturnKey>(run, std::move(top));
  } else if (query.projection != nullptr && !query.projection->identity() &&
             (access.covered || !query.projection_optional)) {
    top = std::make_unique<Project>(run, query, access.covered, std::move(top));
  }
  if (query.show_record_id) top = std::make_unique<RecordId>(run, std::move(top));
  // A sort with a limit gives no more than skip and limit let through.
  if (limit != 0 && (!blocking || skip != 0)) top = std::make_unique<Limit>(run, limit, std::move(top));
  return top;
}

}  // namespace braid::query::plan
