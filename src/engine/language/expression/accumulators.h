// The states behind the accumulators, and how each accumulator's argument is parsed. Internal to this folder.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "engine/language/expression/accumulator.h"
#include "engine/language/expression/operators.h"
#include "engine/language/expression/order.h"
#include "engine/language/expression/summation.h"

namespace braid::query::accumulators {

/// Parameters that a state may need besides its values.
struct Settings {
  const bson::Collation* collation = nullptr;
  size_t n = 0;                   // of $firstN and its kin
  ValueOrder order;               // of $topN and its kin
  std::vector<double> fractions;  // of $percentile
};

using Make = std::unique_ptr<Accumulator>(const Settings& settings);

// accumulate_numbers.cc
Make MakeAvg, MakeMedian, MakePercentile, MakeStdDevPop, MakeStdDevSamp, MakeSum;
// accumulate_choice.cc
Make MakeBottom, MakeBottomN, MakeFirst, MakeFirstN, MakeLast, MakeLastN, MakeMax, MakeMaxN, MakeMin, MakeMinN, MakeTop,
    MakeTopN;
// accumulate_lists.cc
Make MakeAddToSet, MakeMergeObjects, MakePush;

struct Definition;
using SpecParser = Result<std::unique_ptr<const AccumulatorSpec>>(const Definition& definition,
                                                                  const bson::Value& argument,
                                                                  const Environment& environment);

/// A line of the table of accumulators.
struct Definition {
  std::string_view name;
  Make* make;
  SpecParser* parse;
};

// accumulator_specs.cc: the ways an argument is written
SpecParser ParseOne;         // {$sum: expression}
SpecParser ParseCount;       // {$count: {}}
SpecParser ParseN;           // {$firstN: {n, input}}
SpecParser ParseTop;         // {$top: {sortBy, output}}
SpecParser ParseTopN;        // {$topN: {n, sortBy, output}}
SpecParser ParsePercentile;  // {$percentile: {input, p, method}} and {$median: {input, method}}

/// The average that follows from a sum; null if there were no numbers.
bson::Value MeanOf(const Summation& sum, int64_t count, bson::Arena& arena);

/// Mean and squared distance, number by number (Welford).
class Deviation {
 public:
  void Add(double value);
  bson::Value Population(bson::Arena& arena) const { return Root(arena, count_); }
  bson::Value Sample(bson::Arena& arena) const { return Root(arena, count_ - 1); }

 private:
  bson::Value Root(bson::Arena& arena, int64_t divisor) const;
  int64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

/// The fractions of `p`; Location(7750301) … if it is not an array of numbers between 0 and 1.
Result<std::vector<double>> FractionsOf(const bson::Value& p);
/// Checks `method`, which must be "approximate".
Status CheckPercentileMethod(const bson::Value& method);
/// The value at or below which that fraction of the numbers lies; null if there are none. Sorts them.
bson::Value PercentileOf(std::vector<double>& numbers, double fraction, bson::Arena& arena);

/// The fields of `update` over those of `base`: those that are there keep their place.
bson::Value MergeFields(bson::View base, bson::View update, bson::Arena& arena);

}  // namespace braid::query::accumulators
