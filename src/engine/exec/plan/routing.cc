#include "engine/exec/plan/routing.h"

#include <algorithm>

#include "engine/bson/arena.h"
#include "engine/bson/hash.h"
#include "engine/bson/key_encoding.h"
#include "engine/exec/plan/bounds.h"
#include "engine/exec/plan/conditions.h"

namespace braid::query::plan {
namespace {

using sharding::Placement;
using sharding::ShardNumbers;

constexpr size_t kPrefixesMax = 10'000;

class Router {
 public:
  Router(const Placement& placement, const bson::Collation* collation) : placement_(placement), collation_(collation) {}

  ShardNumbers Route(const MatchNode& root) const {
    const Conditions conditions = Conditions::Of(root);
    ShardNumbers shards = ForConditions(conditions);
    for (const MatchNode* conjunct : conditions.conjuncts) {
      if (conjunct->op() != MatchOp::kOr) continue;
      const ShardNumbers either = ForBranches(*conjunct, conditions);
      ShardNumbers common;
      std::ranges::set_intersection(shards, either, std::back_inserter(common));
      shards = std::move(common);
    }
    return shards;
  }

 private:
  ShardNumbers ForBranches(const MatchNode& either, const Conditions& whole) const {
    ShardNumbers shards;
    for (const auto& branch : either.children()) {
      Conditions conditions = Conditions::Of(*branch);
      for (const MatchNode* conjunct : whole.conjuncts) {
        if (conjunct != &either) conditions.Add(*conjunct);
      }
      for (const sharding::ShardNumber shard : ForConditions(conditions)) sharding::AddShard(shard, &shards);
    }
    return shards;
  }

  /// The values of a field that the conditions allow.
  Intervals IntervalsOf(const sharding::ShardKey::Field& field, const Conditions& conditions) const {
    const FieldTraits traits{.same_collation = collation_ == nullptr, .hashed = field.hashed, .never_undefined = true};
    Intervals intervals{Interval::All()};
    for (const Condition& condition : conditions.list) {
      if (condition.path != field.path || condition.scope != nullptr) continue;
      if (const auto bounds = BoundsOf(*condition.node, traits)) intervals = Intersect(intervals, bounds->intervals);
    }
    return intervals;
  }

  /// Fixed values make prefixes of keys; the first field that is not fixed makes ranges of them.
  ShardNumbers ForConditions(const Conditions& conditions) const {
    std::vector<std::string> prefixes{""};
    ShardNumbers shards;
    for (const auto& field : placement_.key.fields()) {
      const Intervals intervals = IntervalsOf(field, conditions);
      const bool fixed = std::ranges::all_of(intervals, [](const Interval& i) { return i.IsPoint(); });
      if (!fixed || prefixes.size() * intervals.size() > kPrefixesMax) {
        for (const std::string& prefix : prefixes) {
          for (const Interval& interval : intervals) {
            placement_.AddShardsOf(prefix + interval.begin, prefix + interval.end, &shards);
          }
        }
        return shards;
      }
      std::vector<std::string> longer;
      for (const std::string& prefix : prefixes) {
        for (const Interval& point : intervals) longer.push_back(prefix + point.begin);
      }
      prefixes = std::move(longer);
    }
    for (const std::string& key : prefixes) placement_.AddShardsOf(key, key + '\0', &shards);
    return shards;
  }

  const Placement& placement_;
  const bson::Collation* collation_;
};

/// {user_id: "U7", …} for a key of the one field user_id, the most frequent case of all: no intervals are needed.
/// Nothing if it is not that simple.
std::optional<ShardNumbers> RouteEquality(const Placement& placement, const MatchNode& root) {
  if (placement.key.fields().size() != 1) return std::nullopt;
  const auto& field = placement.key.fields().front();
  const auto fixes = [&field](const MatchNode& node) {
    if (node.op() != MatchOp::kEq || node.path() != field.path) return false;
    const bson::Value value = node.operand();
    return !value.IsNullish() && !value.Is(bson::Type::kArray) && !value.Is(bson::Type::kRegex);
  };
  const MatchNode* found = fixes(root) ? &root : nullptr;
  if (root.op() == MatchOp::kAnd) {
    for (const auto& child : root.children()) {
      if (fixes(*child)) found = child.get();
    }
  }
  if (found == nullptr) return std::nullopt;
  ShardNumbers shards;
  const auto add = [&](const bson::Value& value) {
    std::string key;
    bson::AppendKey(&key, value);
    const sharding::Chunk& chunk = placement.ChunkOf(key);
    sharding::AddShard(chunk.shard, &shards);
    if (chunk.from) sharding::AddShard(*chunk.from, &shards);
  };
  if (!field.hashed) {
    add(found->operand());
    return shards;
  }
  const auto hashes = bson::HashesOfEqual(found->operand());
  if (!hashes) return std::nullopt;
  bson::Arena arena;
  for (const int64_t hash : *hashes) add(arena.Int64(hash));
  return shards;
}

}  // namespace

ShardNumbers RouteFilter(const catalog::Collection& collection, const Filter& filter,
                         const bson::Collation* collation) {
  const Placement& placement = *collection.placement;
  if (!placement.sharded()) return placement.Shards();
  if (collation == nullptr) {
    if (auto shards = RouteEquality(placement, filter.root())) return *std::move(shards);
  }
  ShardNumbers shards;
  if (filter.root().op() != MatchOp::kAlwaysFalse) shards = Router(placement, collation).Route(filter.root());
  if (shards.empty()) shards.push_back(placement.chunks.front().shard);
  return shards;
}

ShardNumbers RouteInSnapshot(txn::Context& context, Query* query) {
  const catalog::Catalog& catalog = context.shared().catalog;
  const catalog::CollectionPtr current = catalog.Find(query->collection->ns);
  if (current != nullptr && current->number == query->collection->number) query->collection = current;
  if (query->collection->placed_at > context.snapshot().position()) {
    ShardNumbers all;
    for (sharding::ShardNumber shard = 0; shard < catalog.shard_end(); ++shard) all.push_back(shard);
    return all;
  }
  const auto& environment = query->environment;
  return RouteFilter(*query->collection, query->filter,
                     environment == nullptr ? nullptr : environment->collation.get());
}

}  // namespace braid::query::plan
