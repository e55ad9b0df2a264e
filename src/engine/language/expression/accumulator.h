// Accumulators of $group: $sum, $avg, $min, $max, $first, $last, $push, $addToSet, $stdDevPop, $stdDevSamp,
// $mergeObjects, $count, ….
#pragma once

#include <memory>
#include <string_view>

#include "engine/language/expression/expression.h"

namespace braid::query {

/// The running state of one accumulator for one group. Keeps copies of what it needs: the document is only valid during
/// Add.
class Accumulator {
 public:
  virtual ~Accumulator() = default;
  virtual Status Add(const bson::Value& value) = 0;
  /// The result; points into the accumulator or the arena.
  virtual bson::Value Finish(bson::Arena& arena) const = 0;
  /// Bytes held, for $group's memory limit.
  virtual size_t memory() const = 0;
};

/// A parsed `name: {$accumulator: argument}` of a $group: makes states and evaluates the argument per document.
class AccumulatorSpec {
 public:
  virtual ~AccumulatorSpec() = default;
  /// A new state; must not outlive the spec.
  virtual std::unique_ptr<Accumulator> Start() const = 0;
  /// The argument of Add() for one document.
  virtual Result<bson::Value> Argument(bson::View document, bson::Arena& arena) const = 0;
  virtual void CollectPaths(std::set<std::string>* paths) const = 0;
};

/// `spec` is the value behind the output field, e.g. {$sum: "$qty"}. Codes as MongoDB's: not an object Location(40234),
/// more than one field Location(40238), unknown accumulator Location(15952). `environment` must outlive the result.
Result<std::unique_ptr<const AccumulatorSpec>> ParseAccumulator(std::string_view field, const bson::Value& spec,
                                                                const Environment& environment);

OperatorNames AccumulatorOperators();

}  // namespace braid::query
