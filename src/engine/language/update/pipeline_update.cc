// Pipeline updates: stages that compute the new document from the old one.
#include <algorithm>
#include <array>

#include "base/strings.h"
#include "engine/bson/json.h"
#include "engine/language/project/projection.h"
#include "engine/language/update/kinds.h"
#include "engine/language/update/storage_rules.h"

namespace braid::update {
namespace {

/// A stage is one or the other.
struct Stage {
  std::unique_ptr<const query::Projection> projection;
  query::ExpressionPtr new_root;
};

class PipelineUpdate final : public Update {
 public:
  PipelineUpdate(std::vector<Stage> stages, EnvironmentPtr environment)
      : stages_(std::move(stages)), environment_(std::move(environment)) {}

  Result<std::optional<bson::Document>> Apply(bson::View document,
                                              const query::MatchDetails& /*details*/) const override {
    BRAID_TRY(bson::Document after, Run(document));
    if (after.view().bytes() == document.bytes()) return std::optional<bson::Document>();
    BRAID_CHECK_OK(CheckUpdatedSize(after));
    return std::optional<bson::Document>(std::move(after));
  }

  Result<bson::Document> Upsert(const query::Filter& filter) const override {
    BRAID_TRY(const bson::Document base, BaseFromFilter(filter));
    BRAID_TRY(bson::Document after, Run(base));
    BRAID_CHECK_OK(CheckId(after.Find("_id")));
    BRAID_CHECK_OK(CheckUpsertedSize(after));
    return after;
  }

  bool is_pipeline() const override { return true; }

 private:
  Result<bson::Document> Run(bson::View document) const {
    bson::Arena arena(bson::Arena::Use::kQuery);
    bson::Document current(document);
    HeldMemory held;
    for (const Stage& stage : stages_) {
      BRAID_CHECK_OK(held.Set(current.view().size()));
      arena.Clear();
      if (stage.projection != nullptr) {
        BRAID_TRY(current, stage.projection->Apply(current, arena));
        continue;
      }
      BRAID_TRY(const bson::Value root, query::Evaluate(*stage.new_root, current, *environment_, arena));
      if (!root.Is(bson::Type::kObject)) {
        return Status(Location(40228),
                      StrCat("The new root must be an object, but it is of type ", bson::TypeName(root.type())));
      }
      current = bson::Document(root.AsView());
    }
    const bson::Value id = document.Find("_id");
    if (const bson::Value own = current.Find("_id"); !own.missing() && !id.missing())
      BRAID_CHECK_OK(CheckSameId(id, own));
    BRAID_CHECK_OK(CheckDepth(current));
    return WithIdFirst(std::move(current), id);
  }

  std::vector<Stage> stages_;
  EnvironmentPtr environment_;
};

Result<Stage> ParseAddFields(const bson::Element& stage, const EnvironmentPtr& environment) {
  if (!stage.value.Is(bson::Type::kObject)) {
    return Status(Location(40272),
                  StrCat(stage.name, " takes an object, not a value of type ", bson::TypeName(stage.value.type())));
  }
  BRAID_TRY(auto projection,
            query::Projection::Parse(stage.value.AsView(), query::Projection::Use::kAddFields, nullptr, environment));
  return Stage{std::move(projection), nullptr};
}

Result<Stage> ParseProject(const bson::Element& stage, const EnvironmentPtr& environment) {
  if (!stage.value.Is(bson::Type::kObject)) {
    return Status(Location(15969),
                  StrCat("$project takes an object, not a value of type ", bson::TypeName(stage.value.type())));
  }
  BRAID_TRY(auto projection,
            query::Projection::Parse(stage.value.AsView(), query::Projection::Use::kProject, nullptr, environment));
  return Stage{std::move(projection), nullptr};
}

Result<Stage> ParseUnsetStage(const bson::Element& stage, const EnvironmentPtr& environment) {
  BRAID_TRY(auto projection, query::Projection::ParseUnset(stage.value, environment));
  return Stage{std::move(projection), nullptr};
}

Result<Stage> ParseReplaceWith(const bson::Element& stage, const EnvironmentPtr& environment) {
  BRAID_TRY(query::ExpressionPtr expression, query::ParseExpression(stage.value, *environment));
  return Stage{nullptr, std::move(expression)};
}

Result<Stage> ParseReplaceRoot(const bson::Element& stage, const EnvironmentPtr& environment) {
  if (!stage.value.Is(bson::Type::kObject)) {
    return Status(Location(40229),
                  StrCat("$replaceRoot takes an object, not a value of type ", bson::TypeName(stage.value.type())));
  }
  bson::Value new_root;
  for (const bson::Element& element : stage.value.AsView()) {
    if (element.name != "newRoot")
      return Status(Location(40415), StrCat("Unknown field '", element.name, "' of $replaceRoot"));
    new_root = element.value;
  }
  if (new_root.missing()) return Status(Location(40414), "$replaceRoot needs the field newRoot");
  return ParseReplaceWith({stage.name, new_root}, environment);
}

struct StageKind {
  std::string_view name;
  Result<Stage> (*parse)(const bson::Element& stage, const EnvironmentPtr& environment);  // null: not in an update
};

constexpr StageKind kStages[] = {
    {"$addFields", ParseAddFields},
    {"$bucket", nullptr},
    {"$bucketAuto", nullptr},
    {"$changeStream", nullptr},
    {"$collStats", nullptr},
    {"$count", nullptr},
    {"$currentOp", nullptr},
    {"$densify", nullptr},
    {"$documents", nullptr},
    {"$facet", nullptr},
    {"$fill", nullptr},
    {"$geoNear", nullptr},
    {"$graphLookup", nullptr},
    {"$group", nullptr},
    {"$indexStats", nullptr},
    {"$limit", nullptr},
    {"$listLocalSessions", nullptr},
    {"$listSampledQueries", nullptr},
    {"$listSessions", nullptr},
    {"$lookup", nullptr},
    {"$match", nullptr},
    {"$merge", nullptr},
    {"$out", nullptr},
    {"$planCacheStats", nullptr},
    {"$project", ParseProject},
    {"$redact", nullptr},
    {"$replaceRoot", ParseReplaceRoot},
    {"$replaceWith", ParseReplaceWith},
    {"$sample", nullptr},
    {"$search", nullptr},
    {"$searchMeta", nullptr},
    {"$set", ParseAddFields},
    {"$setWindowFields", nullptr},
    {"$shardedDataDistribution", nullptr},
    {"$skip", nullptr},
    {"$sort", nullptr},
    {"$sortByCount", nullptr},
    {"$unionWith", nullptr},
    {"$unset", ParseUnsetStage},
    {"$unwind", nullptr},
};
static_assert(std::ranges::is_sorted(kStages, {}, &StageKind::name));

Result<Stage> ParseStage(const bson::Value& specification, const EnvironmentPtr& environment) {
  if (!specification.Is(bson::Type::kObject)) {
    return Status(Code::kTypeMismatch, "Each element of an update's pipeline must be an object");
  }
  if (specification.AsView().Count() != 1) {
    return Status(Location(40323), "A pipeline stage must be an object with exactly one field");
  }
  const bson::Element stage = *specification.AsView().begin();
  const StageKind* kind = std::ranges::lower_bound(kStages, stage.name, {}, &StageKind::name);
  if (kind == std::end(kStages) || kind->name != stage.name) {
    return Status(Location(40324), StrCat("Unrecognized pipeline stage name: '", stage.name, "'"));
  }
  if (kind->parse == nullptr) {
    return Status(Code::kInvalidOptions, StrCat(stage.name, " is not allowed to be used within an update"));
  }
  return kind->parse(stage, environment);
}

}  // namespace

Result<std::unique_ptr<const Update>> ParsePipeline(bson::View stages, const Update::Options& options,
                                                    const EnvironmentPtr& environment) {
  if (!options.array_filters.empty()) {
    return Status(Code::kFailedToParse, "arrayFilters may not be specified for pipeline-style updates");
  }
  std::vector<Stage> parsed;
  for (const bson::Element& element : stages) {
    BRAID_TRY(Stage stage, ParseStage(element.value, environment));
    parsed.push_back(std::move(stage));
  }
  return std::unique_ptr<const Update>(std::make_unique<PipelineUpdate>(std::move(parsed), environment));
}

}  // namespace braid::update
