// The table of accumulators, sorted by name, and the common part of parsing them.
#include "engine/language/expression/accumulator.h"

#include <algorithm>

#include "base/strings.h"
#include "engine/language/expression/accumulators.h"

namespace braid::query {
namespace {

using namespace accumulators;  // NOLINT(google-build-using-namespace): the table names most of them

constexpr Definition kAccumulators[] = {
    {"$addToSet", MakeAddToSet, ParseOne},
    {"$avg", MakeAvg, ParseOne},
    {"$bottom", MakeBottom, ParseTop},
    {"$bottomN", MakeBottomN, ParseTopN},
    {"$count", MakeSum, ParseCount},
    {"$first", MakeFirst, ParseOne},
    {"$firstN", MakeFirstN, ParseN},
    {"$last", MakeLast, ParseOne},
    {"$lastN", MakeLastN, ParseN},
    {"$max", MakeMax, ParseOne},
    {"$maxN", MakeMaxN, ParseN},
    {"$median", MakeMedian, ParsePercentile},
    {"$mergeObjects", MakeMergeObjects, ParseOne},
    {"$min", MakeMin, ParseOne},
    {"$minN", MakeMinN, ParseN},
    {"$percentile", MakePercentile, ParsePercentile},
    {"$push", MakePush, ParseOne},
    {"$stdDevPop", MakeStdDevPop, ParseOne},
    {"$stdDevSamp", MakeStdDevSamp, ParseOne},
    {"$sum", MakeSum, ParseOne},
    {"$top", MakeTop, ParseTop},
    {"$topN", MakeTopN, ParseTopN},
};

constexpr std::string_view kRefusedAccumulators[] = {"$accumulator"};  // server-side JavaScript

static_assert(std::ranges::is_sorted(kAccumulators, {}, &Definition::name));
static_assert(std::ranges::is_sorted(kRefusedAccumulators));

}  // namespace

Result<std::unique_ptr<const AccumulatorSpec>> ParseAccumulator(std::string_view field, const bson::Value& spec,
                                                                const Environment& environment) {
  const bool is_object = spec.Is(bson::Type::kObject) && !spec.AsView().empty();
  if (!is_object || !spec.AsView().begin()->name.starts_with('$')) {
    return CallError(40234, "The field '", field, "' must be an accumulator object");
  }
  if (field.find('.') != std::string_view::npos)
    return CallError(40235, "The field name '", field, "' cannot contain '.'");
  if (field.starts_with('$')) return CallError(40236, "The field name '", field, "' cannot be an operator name");
  if (spec.AsView().Count() != 1) return CallError(40238, "The field '", field, "' must specify one accumulator");
  const bson::Element written = *spec.AsView().begin();
  if (std::ranges::binary_search(kRefusedAccumulators, written.name)) {
    return Status(Code::kCommandNotSupported, StrCat("Braid does not support the accumulator ", written.name));
  }
  const Definition* found = std::ranges::lower_bound(kAccumulators, written.name, {}, &Definition::name);
  if (found == std::end(kAccumulators) || found->name != written.name) {
    return CallError(15952, "unknown group operator '", written.name, "'");
  }
  return found->parse(*found, written.value, environment);
}

OperatorNames AccumulatorOperators() {
  OperatorNames names;
  for (const Definition& definition : kAccumulators) names.supported.push_back(definition.name);
  names.refused.assign(std::begin(kRefusedAccumulators), std::end(kRefusedAccumulators));
  return names;
}

}  // namespace braid::query
