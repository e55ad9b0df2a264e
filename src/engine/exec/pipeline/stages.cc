// The table of stages, sorted by name: those Braid has, and those of MongoDB it refuses by name.
#include <algorithm>

#include "base/strings.h"
#include "engine/exec/pipeline/stage.h"

namespace braid::query {
namespace pipeline {
namespace {

constexpr StageDefinition kStages[] = {
    {"$addFields", ParseAddFields, kInUpdate},
    {"$bucket", ParseBucket},
    {"$collStats", ParseCollStats, kFirst},
    {"$count", ParseCount},
    {"$currentOp", ParseCurrentOp, kFirst | kNoCollection | kAdminOnly},
    {"$group", ParseGroup},
    {"$indexStats", ParseIndexStats, kFirst},
    {"$limit", ParseLimit},
    {"$listLocalSessions", ParseListLocalSessions, kFirst | kNoCollection},
    {"$listSampledQueries", ParseListSampledQueries, kFirst | kNoCollection | kAdminOnly},
    {"$listSessions", ParseListSessions, kFirst},
    {"$match", ParseMatch},
    {"$merge", ParseMerge, kLast},
    {"$out", ParseOut, kLast},
    {"$project", ParseProject, kInUpdate},
    {"$replaceRoot", ParseReplaceRoot, kInUpdate},
    {"$replaceWith", ParseReplaceWith, kInUpdate},
    {"$sample", ParseSample},
    {"$set", ParseAddFields, kInUpdate},
    {"$shardedDataDistribution", ParseShardedDataDistribution, kFirst | kNoCollection | kAdminOnly},
    {"$skip", ParseSkip},
    {"$sort", ParseSort},
    {"$sortByCount", ParseSortByCount},
    {"$unset", ParseUnset, kInUpdate},
    {"$unwind", ParseUnwind},
};

constexpr std::string_view kRefused[] = {
    "$bucketAuto",
    "$changeStream",
    "$changeStreamSplitLargeEvent",
    "$densify",
    "$documents",
    "$facet",
    "$fill",
    "$geoNear",
    "$graphLookup",
    "$lookup",
    "$planCacheStats",
    "$redact",
    "$setWindowFields",
    "$unionWith",
};

/// Stages of MongoDB's hosted service only: a self-managed MongoDB server does not know them either.
constexpr std::string_view kAtlas[] = {"$listSearchIndexes", "$search", "$searchMeta", "$vectorSearch"};

static_assert(std::ranges::is_sorted(kStages, {}, &StageDefinition::name));
static_assert(std::ranges::is_sorted(kRefused));
static_assert(std::ranges::is_sorted(kAtlas));

}  // namespace

Result<const StageDefinition*> FindStage(std::string_view name) {
  const StageDefinition* found = std::ranges::lower_bound(kStages, name, {}, &StageDefinition::name);
  if (found != std::end(kStages) && found->name == name) return found;
  if (std::ranges::binary_search(kRefused, name)) {
    return Status(Code::kCommandNotSupported, StrCat("Braid does not support the pipeline stage ", name));
  }
  if (std::ranges::binary_search(kAtlas, name)) {
    return Status(Location(40324),
                  StrCat("Unrecognized pipeline stage name: '", name, "': it is available on Atlas only"));
  }
  return Status(Location(40324), StrCat("Unrecognized pipeline stage name: '", name, "'"));
}

}  // namespace pipeline

OperatorNames PipelineStages() {
  OperatorNames names;
  for (const pipeline::StageDefinition& stage : pipeline::kStages) names.supported.push_back(stage.name);
  names.refused.assign(std::begin(pipeline::kRefused), std::end(pipeline::kRefused));
  names.refused.insert(names.refused.end(), std::begin(pipeline::kAtlas), std::end(pipeline::kAtlas));
  std::ranges::sort(names.refused);
  return names;
}

}  // namespace braid::query
