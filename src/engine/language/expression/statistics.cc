// Accumulators as expressions over their operands, or over the elements of a single array: $sum, $avg, $min, $max,
// $stdDevPop, $stdDevSamp, $mergeObjects; and $median, $percentile over `input`.
#include <cmath>

#include "engine/bson/compare.h"
#include "engine/bson/number.h"
#include "engine/language/expression/accumulators.h"
#include "engine/language/expression/functions.h"
#include "engine/language/expression/summation.h"
#include "engine/language/expression/values.h"

namespace braid::query::functions {

using bson::Element;
using bson::Number;
using bson::Type;
using bson::Value;

namespace {

constexpr NamedOperand kMedian[] = {{"input", 40414}, {"method", 40414}};
constexpr NamedOperand kPercentile[] = {{"input", 40414}, {"p", 40414}, {"method", 40414}};

/// Each operand; if the only one is an array, each of its elements.
template <typename Visit>
void ForEach(std::span<const Value> args, Visit visit) {
  if (args.size() == 1 && args[0].Is(Type::kArray)) {
    for (const Element& item : args[0].AsView()) visit(item.value);
    return;
  }
  for (const Value& arg : args) visit(arg);
}

struct Summed {
  Summation sum;
  int64_t count = 0;
};

Summed SumOf(const Call& call) {
  Summed summed;
  ForEach(call.args, [&](const Value& value) {
    if (!value.IsNumber()) return;
    summed.sum.Add(Number::Of(value));
    ++summed.count;
  });
  return summed;
}

Value Extreme(const Call& call, int sign) {
  Value best;
  ForEach(call.args, [&](const Value& value) {
    if (value.IsNullish()) return;
    if (best.missing() || sign * bson::Compare(value, best, call.collation()) < 0) best = value;
  });
  return best.missing() ? call.arena().Null() : best;
}

accumulators::Deviation DeviationOf(const Call& call) {
  accumulators::Deviation deviation;
  ForEach(call.args, [&](const Value& value) {
    if (value.IsNumber()) deviation.Add(Number::Of(value).ToDouble());
  });
  return deviation;
}

std::vector<double> NumbersOf(const Value& input) {
  std::vector<double> numbers;
  ForEach({&input, 1}, [&](const Value& value) {
    if (!value.IsNumber()) return;
    const double number = Number::Of(value).ToDouble();
    if (!std::isnan(number)) numbers.push_back(number);
  });
  return numbers;
}

}  // namespace

const NamedOperands kMedianOperands = {7436100, 40415, kMedian};
const NamedOperands kPercentileOperands = {7436200, 40415, kPercentile};

Result<Value> Sum(const Call& call) { return SumOf(call).sum.ToValue(call.arena()); }

Result<Value> Avg(const Call& call) {
  const Summed summed = SumOf(call);
  return accumulators::MeanOf(summed.sum, summed.count, call.arena());
}

Result<Value> Min(const Call& call) { return Extreme(call, 1); }
Result<Value> Max(const Call& call) { return Extreme(call, -1); }
Result<Value> StdDevPop(const Call& call) { return DeviationOf(call).Population(call.arena()); }
Result<Value> StdDevSamp(const Call& call) { return DeviationOf(call).Sample(call.arena()); }

Result<Value> MergeObjects(const Call& call) {
  Status status;
  Value merged = MakeObject(call.arena(), {});
  ForEach(call.args, [&](const Value& value) {
    if (value.IsNullish() || !status.ok()) return;
    if (!value.Is(Type::kObject)) {
      status = CallError(40400, "$mergeObjects requires object inputs, but input is of type ", TypeOf(value));
      return;
    }
    merged = accumulators::MergeFields(merged.AsView(), value.AsView(), call.arena());
  });
  if (!status.ok()) return status;
  return merged;
}

Result<Value> Median(const Call& call) {
  BRAID_CHECK_OK(accumulators::CheckPercentileMethod(call[1]));
  std::vector<double> numbers = NumbersOf(call[0]);
  return accumulators::PercentileOf(numbers, 0.5, call.arena());
}

Result<Value> Percentile(const Call& call) {
  BRAID_CHECK_OK(accumulators::CheckPercentileMethod(call[2]));
  BRAID_TRY(std::vector<double> fractions, accumulators::FractionsOf(call[1]));
  std::vector<double> numbers = NumbersOf(call[0]);
  Values results;
  for (double fraction : fractions) results.push_back(accumulators::PercentileOf(numbers, fraction, call.arena()));
  return MakeArray(call.arena(), results);
}

}  // namespace braid::query::functions
