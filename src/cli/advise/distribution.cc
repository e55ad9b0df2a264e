#include "cli/advise/distribution.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace braid::advise {
namespace {

using bson::Value;
using Keys = std::vector<std::string>;

constexpr size_t kGrowthMin = 40;        // documents from which on an order can be seen
constexpr double kMonotonicShare = 0.9;  // of the newest on one shard

// The keys in order, and the groups of equals counted.
struct Groups {
  size_t distinct = 0;
  size_t single = 0;  // values that occur once
  std::string top;
  size_t top_count = 0;
};

Groups Group(const Keys& sorted) {
  Groups groups;
  for (size_t i = 0; i < sorted.size();) {
    size_t end = i + 1;
    while (end < sorted.size() && sorted[end] == sorted[i]) ++end;
    const size_t count = end - i;
    ++groups.distinct;
    groups.single += count == 1 ? 1 : 0;
    if (count > groups.top_count) {
      groups.top = sorted[i];
      groups.top_count = count;
    }
    i = end;
  }
  return groups;
}

// Values seen more than once were probably all seen; those seen once stand for sqrt(total / sample) others like them
// (the estimator of Charikar and others, whose worst case is the least).
double EstimateDistinct(const Groups& groups, double sample, double total) {
  if (total <= sample) return static_cast<double>(groups.distinct);
  const auto single = static_cast<double>(groups.single);
  if (single == sample) return total;  // no two alike: an identifier
  return std::min(total, std::sqrt(total / sample) * single + static_cast<double>(groups.distinct) - single);
}

Distinct RateDistinct(const Groups& groups, const Sample& sample, size_t keys, size_t shards) {
  Distinct out;
  const auto n = static_cast<double>(keys);
  const auto total = std::max(static_cast<double>(sample.total), n);
  out.exact = sample.total <= sample.documents.size();
  out.values = EstimateDistinct(groups, n, total);
  out.top_count = groups.top_count;
  out.top_share = static_cast<double>(groups.top_count) / n;
  const double enough = std::min(1.0, out.values / std::min(kValuesPerShard * static_cast<double>(shards), total));
  // The shard of the top value has it and its part of the rest: 1 + share * (shards - 1) times the mean.
  const double excess = static_cast<double>(groups.top_count - 1) / n;
  out.score = enough / (1 + excess * static_cast<double>(shards - 1));
  return out;
}

// Ranks from 0, equals share their mean.
std::vector<double> Ranks(const Keys& keys) {
  std::vector<size_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return keys[a] < keys[b]; });
  std::vector<double> ranks(keys.size());
  for (size_t i = 0; i < order.size();) {
    size_t end = i + 1;
    while (end < order.size() && keys[order[end]] == keys[order[i]]) ++end;
    for (size_t j = i; j < end; ++j) ranks[order[j]] = static_cast<double>(i + end - 1) / 2;
    i = end;
  }
  return ranks;
}

// Of the positions 0, 1, … with the ranks of the keys at them (Spearman).
double Correlation(const Keys& keys) {
  const std::vector<double> ranks = Ranks(keys);
  const double mean = static_cast<double>(keys.size() - 1) / 2;
  double together = 0;
  double of_positions = 0;
  double of_ranks = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const double position = static_cast<double>(i) - mean;
    together += position * (ranks[i] - mean);
    of_positions += position * position;
    of_ranks += (ranks[i] - mean) * (ranks[i] - mean);
  }
  return of_ranks == 0 ? 0 : together / std::sqrt(of_positions * of_ranks);
}

// `keys` from the oldest to the newest.
Growth MeasureGrowth(const Keys& keys, size_t shards) {
  Growth growth;
  growth.correlation = Correlation(keys);
  const auto newest_at = keys.begin() + static_cast<std::ptrdiff_t>(keys.size() - keys.size() / 4);
  Keys older(keys.begin(), newest_at);
  const Keys newest(newest_at, keys.end());
  std::sort(older.begin(), older.end());
  const auto counts = Placement::OfQuantiles(older, shards).Count(newest);
  growth.newest_share = MaxOverMean(counts) / static_cast<double>(shards);
  growth.monotonic = std::abs(growth.correlation) >= kMonotonicShare && growth.newest_share >= kMonotonicShare;
  return growth;
}

// What the newest documents say beyond what their small number explains.
double GrowthOverMean(const Growth& growth, size_t documents, size_t shards) {
  const double even = 1 / static_cast<double>(shards);
  const double luck = 3 * std::sqrt(even * (1 - even) / (static_cast<double>(documents) / 4));
  return growth.newest_share <= even + luck ? 1 : growth.newest_share / even;
}

// What counts as even. Hashes of a few hundred values are uneven by chance, which evens out with more values.
double EvenEnough(const ShardKey& key, size_t distinct, size_t shards) {
  if (!key.IsHashed() || static_cast<double>(distinct) < kValuesPerShard) return kEvenEnough;
  return std::max(kEvenEnough, 1 + 3 * std::sqrt(static_cast<double>(shards - 1) / static_cast<double>(distinct)));
}

}  // namespace

Distribution Distribute(const Sample& sample, const InsertionOrder* order, const ShardKey& key, size_t shards) {
  Keys keys;  // from the oldest to the newest, if that is known
  std::vector<size_t> from;
  Distribution out{{}, {}, 0, Placement::OfHashes(shards)};
  for (size_t i = 0; i < sample.documents.size(); ++i) {
    const size_t index = order == nullptr ? i : order->oldest_first[i];
    const auto values = key.ValuesOf(sample.documents[index]);
    if (!values) {
      ++out.with_array;
      continue;
    }
    keys.push_back(key.Encode(*values));
    from.push_back(index);
  }
  if (keys.empty()) return out;

  Keys sorted = keys;
  std::sort(sorted.begin(), sorted.end());
  const Groups groups = Group(sorted);
  out.distinct = RateDistinct(groups, sample, keys.size(), shards);
  const size_t top = from[static_cast<size_t>(std::find(keys.begin(), keys.end(), groups.top) - keys.begin())];
  const std::vector<Value> top_values = *key.ValuesOf(sample.documents[top]);
  out.distinct.top_value = key.ToDocument(top_values);
  out.distinct.top_is_null =
      std::all_of(top_values.begin(), top_values.end(), [](const Value& value) { return value.IsNullish(); });

  Evenness& evenness = out.evenness;
  if (!key.IsHashed()) out.placement = Placement::OfQuantiles(sorted, shards);
  evenness.per_shard = out.placement.Count(keys);
  evenness.max_over_mean = MaxOverMean(evenness.per_shard);
  if (order != nullptr && !key.fields()[0].hashed && keys.size() >= kGrowthMin) {
    evenness.growth = MeasureGrowth(keys, shards);
    evenness.max_over_mean = std::max(evenness.max_over_mean, GrowthOverMean(*evenness.growth, keys.size(), shards));
  }
  evenness.score = std::min(1.0, EvenEnough(key, groups.distinct, shards) / evenness.max_over_mean);
  return out;
}

}  // namespace braid::advise
