#include "cli/advise/rating.h"

#include <algorithm>

#include "base/strings.h"

namespace braid::advise {
namespace {

bool Touches(const std::string& changed, const std::string& path) {
  return changed == path || changed.starts_with(path + ".") || path.starts_with(changed + ".");
}

bool ChangesKey(const Operation& operation, const ShardKey& key) {
  return std::any_of(operation.changed.begin(), operation.changed.end(), [&](const std::string& changed) {
    return std::any_of(key.fields().begin(), key.fields().end(),
                       [&](const ShardKey::Field& field) { return Touches(changed, field.path); });
  });
}

ShapeReach& FindShape(std::vector<ShapeReach>& shapes, const std::string& shape) {
  const auto at = std::find_if(shapes.begin(), shapes.end(), [&](const ShapeReach& s) { return s.shape == shape; });
  if (at != shapes.end()) return *at;
  shapes.push_back({.shape = shape});
  return shapes.back();
}

void Add(Reach& reach, size_t asked, size_t shards, double weight) {
  (asked == 1 ? reach.one : asked == shards ? reach.all : reach.few) += weight;
}

Targeting RateTargeting(const Workload& workload, const ShardKey& key, const Placement& placement) {
  Targeting out;
  const size_t shards = placement.shards();
  double saved = 0;
  for (const Workload::Entry& entry : workload.entries) {
    const Operation& operation = entry.operation;
    const bool changes_key = ChangesKey(operation, key);
    size_t asked = operation.insert ? 1 : ShardsAsked(entry.filter, key, placement);
    if (changes_key) asked = std::max<size_t>(asked, 2);  // the document leaves one shard for another
    ShapeReach& shape = FindShape(out.shapes, entry.shape);
    shape.changes_key = shape.changes_key || changes_key;
    shape.shards += static_cast<double>(asked) * operation.weight;
    Add(shape.reach, asked, shards, operation.weight);
    Add(out.reach, asked, shards, operation.weight);
    saved += operation.weight * static_cast<double>(shards - asked) / static_cast<double>(shards - 1);
  }
  out.score = out.reach.sum() > 0 ? saved / out.reach.sum() : 1;
  for (ShapeReach& shape : out.shapes) shape.shards /= std::max(shape.reach.sum(), 1e-9);
  std::stable_sort(out.shapes.begin(), out.shapes.end(),
                   [](const ShapeReach& a, const ShapeReach& b) { return a.reach.sum() > b.reach.sum(); });
  return out;
}

bool Simpler(const Rating& a, const Rating& b) {
  if (a.key.fields().size() != b.key.fields().size()) return a.key.fields().size() < b.key.fields().size();
  if (a.key.HasHashed() != b.key.HasHashed()) return a.key.HasHashed();
  return a.score > b.score;
}

}  // namespace

Workload Workload::Of(std::vector<Operation> operations) {
  Workload workload;
  for (Operation& operation : operations) {
    std::string shape = operation.Shape();
    ParsedFilter filter(operation);
    workload.entries.push_back({std::move(operation), std::move(shape), std::move(filter)});
  }
  return workload;
}

double Workload::weight() const {
  double sum = 0;
  for (const Entry& entry : entries) sum += entry.operation.weight;
  return sum;
}

Rating Rate(const Sample& sample, const InsertionOrder* order, const Workload& workload, const ShardKey& key,
            size_t shards) {
  Distribution distribution = Distribute(sample, order, key, shards);
  Rating rating{.key = key,
                .distinct = std::move(distribution.distinct),
                .evenness = std::move(distribution.evenness),
                .targeting = {},
                .with_array = distribution.with_array};
  rating.score = rating.with_array > 0 ? 0 : rating.distinct.score * rating.evenness.score;
  if (workload.empty()) return rating;
  rating.targeting = RateTargeting(workload, key, distribution.placement);
  rating.score *= rating.targeting->score;
  return rating;
}

std::vector<Rating> RateAll(const Sample& sample, const InsertionOrder* order, const Workload& workload,
                            const std::vector<ShardKey>& keys, size_t shards) {
  std::vector<Rating> ratings;
  ratings.reserve(keys.size());
  for (const ShardKey& key : keys) ratings.push_back(Rate(sample, order, workload, key, shards));
  std::stable_sort(ratings.begin(), ratings.end(), [](const Rating& a, const Rating& b) { return a.score > b.score; });
  if (ratings.empty()) return ratings;
  const double best = ratings.front().score;
  const auto alike_end =
      std::find_if(ratings.begin(), ratings.end(), [&](const Rating& r) { return r.score < best - kAlike; });
  const auto simplest = std::min_element(ratings.begin(), alike_end, Simpler);
  std::rotate(ratings.begin(), simplest, simplest + 1);
  return ratings;
}

const char* Verdict(double score) { return score >= 0.7 ? "good" : score >= 0.4 ? "fair" : "poor"; }

}  // namespace braid::advise
