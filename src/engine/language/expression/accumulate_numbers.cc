// $sum, $avg, $stdDevPop, $stdDevSamp, $median, $percentile. Values that are not numbers are skipped.
#include <algorithm>
#include <cmath>

#include "base/assert.h"
#include "engine/bson/decimal.h"
#include "engine/language/expression/accumulators.h"
#include "engine/language/expression/summation.h"
#include "engine/language/expression/values.h"

namespace braid::query::accumulators {

using bson::Number;
using bson::Type;
using bson::Value;

namespace {

class RunningSum final : public Accumulator {
 public:
  Status Add(const Value& value) override {
    if (value.IsNumber()) sum_.Add(Number::Of(value));
    return {};
  }
  Value Finish(bson::Arena& arena) const override { return sum_.ToValue(arena); }
  size_t memory() const override { return sizeof(*this); }

 private:
  Summation sum_;
};

class Average final : public Accumulator {
 public:
  Status Add(const Value& value) override {
    if (!value.IsNumber()) return {};
    sum_.Add(Number::Of(value));
    ++count_;
    return {};
  }
  Value Finish(bson::Arena& arena) const override { return MeanOf(sum_, count_, arena); }
  size_t memory() const override { return sizeof(*this); }

 private:
  Summation sum_;
  int64_t count_ = 0;
};

class StdDev final : public Accumulator {
 public:
  explicit StdDev(bool sample) : sample_(sample) {}
  Status Add(const Value& value) override {
    if (value.IsNumber()) deviation_.Add(Number::Of(value).ToDouble());
    return {};
  }
  Value Finish(bson::Arena& arena) const override {
    return sample_ ? deviation_.Sample(arena) : deviation_.Population(arena);
  }
  size_t memory() const override { return sizeof(*this); }

 private:
  bool sample_;
  Deviation deviation_;
};

class Percentiles final : public Accumulator {
 public:
  Percentiles(std::vector<double> fractions, bool single) : fractions_(std::move(fractions)), single_(single) {}
  Status Add(const Value& value) override {
    if (!value.IsNumber()) return {};
    const double number = Number::Of(value).ToDouble();
    if (!std::isnan(number)) numbers_.push_back(number);
    return {};
  }
  Value Finish(bson::Arena& arena) const override {
    BRAID_ASSERT(!single_ || fractions_.size() == 1);
    std::vector<double> numbers = numbers_;
    Values results;
    for (double fraction : fractions_) results.push_back(PercentileOf(numbers, fraction, arena));
    return single_ ? results[0] : MakeArray(arena, results);
  }
  size_t memory() const override { return sizeof(*this) + numbers_.capacity() * sizeof(double); }

 private:
  std::vector<double> fractions_;
  bool single_;
  std::vector<double> numbers_;
};

}  // namespace

Value MeanOf(const Summation& sum, int64_t count, bson::Arena& arena) {
  if (count == 0) return arena.Null();
  if (sum.type() != Type::kDecimal128) return arena.Double(sum.ToDouble() / static_cast<double>(count));
  return arena.Decimal(bson::decimal::Divide(sum.ToDecimal(), bson::decimal::FromInt64(count)));
}

void Deviation::Add(double value) {
  ++count_;
  const double delta = value - mean_;
  mean_ += delta / static_cast<double>(count_);
  squares_ += delta * (value - mean_);
}

Value Deviation::Root(bson::Arena& arena, int64_t divisor) const {
  return divisor <= 0 ? arena.Null() : arena.Double(std::sqrt(squares_ / static_cast<double>(divisor)));
}

Value PercentileOf(std::vector<double>& numbers, double fraction, bson::Arena& arena) {
  if (numbers.empty()) return arena.Null();
  std::sort(numbers.begin(), numbers.end());
  const double rank = std::ceil(fraction * static_cast<double>(numbers.size()));
  const size_t index = rank < 1 ? 0 : static_cast<size_t>(rank) - 1;
  return arena.Double(numbers[std::min(index, numbers.size() - 1)]);
}

std::unique_ptr<Accumulator> MakeSum(const Settings&) { return std::make_unique<RunningSum>(); }
std::unique_ptr<Accumulator> MakeAvg(const Settings&) { return std::make_unique<Average>(); }
std::unique_ptr<Accumulator> MakeStdDevPop(const Settings&) { return std::make_unique<StdDev>(false); }
std::unique_ptr<Accumulator> MakeStdDevSamp(const Settings&) { return std::make_unique<StdDev>(true); }
std::unique_ptr<Accumulator> MakeMedian(const Settings&) {
  return std::make_unique<Percentiles>(std::vector<double>{0.5}, true);
}
std::unique_ptr<Accumulator> MakePercentile(const Settings& settings) {
  return std::make_unique<Percentiles>(settings.fractions, false);
}

}  // namespace braid::query::accumulators
