#include "cli/advise/targeting.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "engine/bson/arena.h"
#include "engine/bson/hash.h"
#include "engine/bson/key_encoding.h"
#include "engine/exec/plan/bounds.h"
#include "engine/exec/plan/conditions.h"

namespace braid::advise {
namespace {

using query::MatchNode;
using query::MatchOp;
using query::plan::Condition;
using query::plan::Conditions;
using query::plan::FieldTraits;
using query::plan::Interval;
using query::plan::Intervals;

using Shards = std::vector<bool>;  // one flag per shard: may it have a match?

constexpr size_t kPrefixesMax = 10'000;  // beyond that many combinations of points all shards are asked

class Router {
 public:
  Router(const ShardKey& key, const Placement& placement, bool collated)
      : key_(key), placement_(placement), collated_(collated) {}

  // The conjunction of `known` and `more`.
  Shards Route(Conditions known, const std::vector<const MatchNode*>& more) const {
    for (const MatchNode* node : more) known.Add(*node);
    Shards shards = ByConditions(known);
    const std::vector<const MatchNode*> conjuncts = std::move(known.conjuncts);
    known.conjuncts.clear();  // a branch must not split by the same $or again
    for (const MatchNode* node : conjuncts) {
      if (node->op() == MatchOp::kAlwaysFalse) return Shards(placement_.shards());
      if (node->op() != MatchOp::kOr) continue;
      Shards any(placement_.shards());
      for (const auto& branch : node->children()) {
        const Shards one = Route(known, {branch.get()});
        std::transform(one.begin(), one.end(), any.begin(), any.begin(), std::logical_or<>());
      }
      std::transform(any.begin(), any.end(), shards.begin(), shards.begin(), std::logical_and<>());
    }
    return shards;
  }

 private:
  // Values that no shard key can have: a server refuses to place regular expressions and undefined, although bounds of
  // an index include them.
  static bool IsOfNoKey(const Interval& interval, bool hashed) {
    static const int64_t kUndefined = bson::MongoHash(bson::Value(bson::Type::kUndefined, "", 0));
    const bson::Value low = interval.low;
    if (!hashed) return low.Is(bson::Type::kRegex);
    return interval.IsPoint() && low.Is(bson::Type::kInt64) && low.AsInt64() == kUndefined;
  }

  // The intervals of the field; nothing if it is not restricted.
  std::optional<Intervals> BoundsOfField(const ShardKey::Field& field, const Conditions& conditions) const {
    const FieldTraits traits{.same_collation = !collated_, .hashed = field.hashed};
    std::optional<Intervals> all;
    for (const Condition& condition : conditions.list) {
      if (condition.path != field.path || condition.scope != nullptr) continue;
      auto bounds = query::plan::BoundsOf(*condition.node, traits);
      if (!bounds) continue;
      std::erase_if(bounds->intervals, [&](const Interval& i) { return IsOfNoKey(i, field.hashed); });
      all = all ? query::plan::Intersect(*all, bounds->intervals) : std::move(bounds->intervals);
    }
    return all;
  }

  Shards ByConditions(const Conditions& conditions) const {
    Shards shards(placement_.shards());
    std::vector<std::string> prefixes = {""};
    for (const ShardKey::Field& field : key_.fields()) {
      const std::optional<Intervals> bounds = BoundsOfField(field, conditions);
      if (!bounds || prefixes.size() * bounds->size() > kPrefixesMax) break;
      if (!std::all_of(bounds->begin(), bounds->end(), [](const Interval& i) { return i.IsPoint(); })) {
        for (const std::string& prefix : prefixes) {
          for (const Interval& i : *bounds) placement_.Touch(prefix + i.begin, prefix + i.end, shards);
        }
        return shards;
      }
      std::vector<std::string> longer;
      for (const std::string& prefix : prefixes) {
        for (const Interval& i : *bounds) longer.push_back(prefix + i.begin);
      }
      prefixes = std::move(longer);
    }
    for (const std::string& prefix : prefixes) placement_.Touch(prefix, prefix + bson::kAboveAll, shards);
    return shards;
  }

  const ShardKey& key_;
  const Placement& placement_;
  const bool collated_;
};

}  // namespace

Placement Placement::OfHashes(size_t shards) {
  std::vector<std::string> splits;
  bson::Arena arena;
  const uint64_t width = std::numeric_limits<uint64_t>::max() / shards;
  for (size_t i = 1; i < shards; ++i) {
    const auto from_lowest = static_cast<int64_t>((uint64_t{1} << 63) + i * width + 1);  // wraps at -2^63
    bson::AppendKey(&splits.emplace_back(), arena.Int64(from_lowest));
  }
  return {shards, std::move(splits)};
}

Placement Placement::OfQuantiles(const std::vector<std::string>& sorted, size_t shards) {
  std::vector<std::string> splits;
  for (size_t i = 1; i < shards && !sorted.empty(); ++i) splits.push_back(sorted[i * sorted.size() / shards]);
  return {shards, std::move(splits)};
}

size_t Placement::ShardOf(std::string_view key) const {
  return static_cast<size_t>(std::upper_bound(splits_.begin(), splits_.end(), key) - splits_.begin());
}

void Placement::Touch(std::string_view begin, std::string_view end, std::vector<bool>& touched) const {
  if (begin >= end) return;
  const auto last = static_cast<size_t>(std::lower_bound(splits_.begin(), splits_.end(), end) - splits_.begin());
  for (size_t i = ShardOf(begin); i <= last; ++i) touched[i] = true;
}

std::vector<uint64_t> Placement::Count(const std::vector<std::string>& keys) const {
  std::vector<uint64_t> counts(shards_);
  for (const std::string& key : keys) ++counts[ShardOf(key)];
  return counts;
}

double MaxOverMean(const std::vector<uint64_t>& counts) {
  const uint64_t sum = std::accumulate(counts.begin(), counts.end(), uint64_t{0});
  if (sum == 0) return 1;
  const uint64_t most = *std::max_element(counts.begin(), counts.end());
  return static_cast<double>(most) * static_cast<double>(counts.size()) / static_cast<double>(sum);
}

ParsedFilter::ParsedFilter(const Operation& operation) : collated_(operation.collated) {
  const bson::View view = operation.filter.view();
  for (auto at = view.begin(); at != view.end(); ++at) {
    bson::Builder one;
    auto filter = query::Filter::Parse(one.AppendRaw(at.raw()).Finish(), nullptr);
    if (filter.ok()) parts_.push_back(*std::move(filter));
  }
}

size_t ShardsAsked(const ParsedFilter& filter, const ShardKey& key, const Placement& placement) {
  std::vector<const MatchNode*> nodes;
  for (const query::Filter& part : filter.parts()) nodes.push_back(&part.root());
  const Shards shards = Router(key, placement, filter.collated()).Route({}, nodes);
  // A filter that no document can meet is still sent to one shard.
  return std::max<size_t>(1, static_cast<size_t>(std::count(shards.begin(), shards.end(), true)));
}

}  // namespace braid::advise
