// Counters: hot totals spread over logical shards, so that writers never wait for each other (A1–A3).
//
//   BRAID_TRY(const auto views, Counters::Open(*store, {.database = "example", .collection = "views",
//                                                       .fields = {"views", "bytes"}}));
//   const Counters::Increment increment{.entity = "/index", .by = {{"views", 1}, {"bytes", 4096}}};
//   BRAID_CHECK_OK(RunTransaction(*store, {.database = "example"}, [&](Transaction& transaction) -> Status {
//     BRAID_CHECK_OK(views->Add(transaction, shard, {&increment, 1}));
//     BRAID_TRY(const CounterValues sums, views->Sum(transaction, "/index"));
//     std::cout << sums["views"];
//     return {};
//   }));
//
// `shard` is any of the logical shards: a random one, or that of a ShardLease, with which writers never collide.
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/transaction.h"

namespace braid {

/// The most fields that a set can have.
inline constexpr size_t kCounterFieldsMax = 8;

/// Numbers by the names of fields. A field that was never named is 0, and equal to one that is 0.
template <typename T>
class FieldValues {
 public:
  FieldValues() = default;
  FieldValues(std::initializer_list<std::pair<std::string_view, T>> values) {
    for (const auto& [field, value] : values) (*this)[field] += value;
  }

  T operator[](std::string_view field) const {
    const auto found = std::ranges::find(values_, field, &Value::first);
    return found == values_.end() ? T{} : found->second;
  }
  T& operator[](std::string_view field) {
    const auto found = std::ranges::find(values_, field, &Value::first);
    if (found != values_.end()) return found->second;
    return values_.emplace_back(std::string(field), T{}).second;
  }

  T operator[](std::integral auto position) const = delete;  // 0 would be a null pointer to a name

  /// Pairs of a field's name and its number, in the order in which they were named.
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

  bool operator==(const FieldValues& other) const { return Covers(other) && other.Covers(*this); }

 private:
  using Value = std::pair<std::string, T>;
  bool Covers(const FieldValues& other) const {
    return std::ranges::all_of(other, [&](const Value& value) { return (*this)[value.first] == value.second; });
  }
  std::vector<Value> values_;
};

using CounterValues = FieldValues<int64_t>;
__extension__ typedef __int128 WideSum;
/// Sums wide enough never to overflow, for checks: a store may hold shards whose sum does not fit in 64 bits.
using WideSums = FieldValues<WideSum>;

struct CounterOptions {
  std::string database;
  /// The set's documents: {_id: "{shard}"} of the whole, {_id: "{entity}:{shard}"} of an entity (A1).
  std::string collection;
  /// The names of what is counted, 1 to kCounterFieldsMax: fields of the documents.
  std::vector<std::string> fields;
  /// The number N of logical shards: more shards allow more concurrent writers, but each sum reads N documents (A2).
  /// Default 10, 1..10000. May be raised at any time, also while others write; never lowered (A3).
  uint32_t shard_count = 10;
  /// Collection that keeps the entities in the order of the first field, for Rank(); empty: none.
  std::string ranking = {};

  Status Validate() const;  ///< OK, or what is out of range, its value and its range.
};

/// One named set of counters. Any thread. Nothing has to be closed: what Add() wrote is durable with its transaction.
///
/// A sum is the sum of its shards' documents, whichever process wrote them: increments may go to any shard, and each
/// may be negative; only the sums mean something. The number of shards is kept in the collection `counter_sets`
/// ({_id: collection, shards: N}) and never falls, so a sum covers every shard ever used, whatever this process was
/// told. Nothing wraps: an increment or a sum that does not fit in 64 bits is kOverflow.
class Counters {
 public:
  struct Increment {
    std::string entity;  // empty: the whole
    CounterValues by;    // what is added to each field; kBadValue if the set has no such field
    /// AddCountingNew() does not count the entity, for example because another program may have done so.
    bool uncounted = false;
  };
  struct Entity {
    std::string name;
    WideSums sums;
    /// Whether it has a document in shard 0, by which entities are counted; see AddCountingNew().
    bool counted = false;
    /// The part of the first field that the ranking does not include yet; empty if it includes everything.
    std::optional<WideSum> unranked;
  };
  struct RankedEntity {
    std::string entity;
    int64_t value = 0;  // of the first field
  };

  ~Counters();

  /// Raises the stored number of shards if the options say more. kShardCountLowered if they say less.
  static Result<std::unique_ptr<Counters>> Open(Clients& clients, const CounterOptions& options);
  /// For callers that only read: takes the stored number of shards, whatever the options say, and changes nothing (A3).
  static Result<std::unique_ptr<Counters>> OpenToRead(Clients& clients, const CounterOptions& options);

  /// Adds to `shard` (0 … shard_count()-1) as part of the transaction. Increments of one entity become one change.
  Status Add(Transaction& transaction, uint32_t shard, std::span<const Increment> increments);

  /// The same, and counts entities that were never added to before, each exactly once over all processes: its first
  /// increment goes to its shard 0, whose document two transactions cannot both create. Any number of times per
  /// transaction: an entity is counted by the first call.
  Result<int64_t> AddCountingNew(Transaction& transaction, uint32_t shard, std::span<const Increment> increments);

  /// OK if `by` (0 or more) can be added to a field of the whole in `shard`, by this transaction, with the sum over all
  /// shards staying within 64 bits whatever others add at the same time; else kOverflow. Only for fields that never
  /// decrease, and only if every writer calls it. Below kShardFree in a shard the other shards are not read; beyond it
  /// the writers conflict with each other.
  Status ExpectRoom(Transaction& transaction, uint32_t shard, std::string_view field, int64_t by) const;
  static constexpr int64_t kShardFree = INT64_MAX / 100'000;

  /// The exact sums of all fields at the transaction's snapshot; zeros if there is no document.
  Result<CounterValues> Sum(Transaction& transaction, std::string_view entity) const;
  /// The sums of many entities, in their order.
  Result<std::vector<CounterValues>> Sums(Transaction& transaction, std::span<const std::string> entities) const;
  Result<WideSums> SumWide(Transaction& transaction, std::string_view entity) const;
  /// The sums of an entity as 64-bit numbers; kOverflow names the field that does not fit.
  Result<CounterValues> Narrow(std::string_view entity, const WideSums& sums) const;

  /// Every entity, by name. Streams: memory does not grow with their number.
  Status ForEach(Transaction& transaction, const std::function<Status(const Entity&)>& each) const;

  /// False if the set was last opened to write by a program that keeps no ranking: Rank() would miss entities.
  bool ranked() const { return ranked_; }
  /// The entities by the first field, highest first, equal ones by name, from behind `after`: exact at the
  /// transaction's snapshot. The cost grows with `limit` and with what was changed since UpdateRanking(), not with the
  /// entities.
  Result<std::vector<RankedEntity>> Rank(Transaction& transaction, size_t limit,
                                         const std::optional<RankedEntity>& after) const;
  /// Brings the changes of writers into the ranking, so that Rank() is quick. Skips documents that others are writing
  /// at the same time. May run at any time, also after a run was killed.
  Status UpdateRanking(Clients& clients, const std::atomic<bool>* stop);
  /// The ranking as stored, without the changes since the last UpdateRanking(), in any order: for checks.
  Status ForEachRanked(Transaction& transaction, const std::function<Status(const RankedEntity&)>& each) const;
  /// Sets the entity's place in the ranking to that of its sum: for repairs.
  Status RepairRanking(Transaction& transaction, const std::string& entity);

  /// Sets the sum of `entity` (empty: the whole) to the given values, by adding the difference to shard 0: for repairs.
  Status Correct(Transaction& transaction, std::string_view entity, const CounterValues& sums);

  /// The number of logical shards in use, which is the number of documents read for one sum.
  uint32_t shard_count() const { return shard_count_; }
  const CounterOptions& options() const { return options_; }

 private:
  class CountedEntities;
  Counters(const CounterOptions& options, uint32_t shard_count, bool ranked);
  static Status EnsureRanking(Clients& clients, const CounterOptions& options);
  static Result<bool> IsRanked(Clients& clients, const CounterOptions& options);
  Result<std::map<std::string, WideSum>> Unranked(Transaction& transaction) const;
  Status ReadRanking(Transaction& transaction, const std::optional<RankedEntity>& after, size_t limit,
                     std::vector<RankedEntity>& rows) const;
  Result<uint32_t> ReadShardCount(Transaction& transaction) const;
  Status ExpectField(std::string_view field) const;
  WideSums Zeros() const;
  void AddTo(const Document& document, WideSums& sums) const;

  const CounterOptions options_;
  const uint32_t shard_count_;
  const bool ranked_;
  const std::unique_ptr<CountedEntities> counted_;
};

struct ShardLeaseOptions {
  std::string database;
  /// The name of the set of shards; leases of different groups are independent of each other.
  std::string group;
  uint32_t shard_count = 10;
  /// A process that does not renew its lease for this long loses its shard to the next process that asks. Default 10 s,
  /// at least 1 s.
  int64_t lifetime_ms = 10'000;
};

/// A lease on a shard for one writer, so that its transactions do not conflict with others; kept in the collection
/// `counter_leases` ({_id: "{group}:{shard}", owner, expires_at}). When all shards are taken, shards are chosen at
/// random, as by clients without leases. A conflict, or a wrong clock, costs a retry and never correctness. One thread
/// at a time.
class ShardLease {
 public:
  static Result<std::unique_ptr<ShardLease>> Take(Clients& clients, const ShardLeaseOptions& options);
  ~ShardLease();  ///< calls Close() and discards its error
  ShardLease(const ShardLease&) = delete;
  ShardLease& operator=(const ShardLease&) = delete;

  /// The shard to write to now; renews the lease when a third of its life is over, and looks for another one when it
  /// was lost.
  Result<uint32_t> Shard();
  bool owned() const { return shard_ >= 0; }
  /// Gives the shard back, so that another writer can take it at once. An error: the lease ends by itself when its time
  /// is over.
  Status Close();

 private:
  ShardLease(Clients& clients, const ShardLeaseOptions& options);
  Status Renew();
  Result<bool> TryTake(uint32_t shard);
  Status TakeAny();

  Clients& clients_;
  const ShardLeaseOptions options_;
  const std::string owner_;
  int64_t shard_ = -1;  // -1: none is free
  int64_t renew_at_ms_ = 0;
};

}  // namespace braid
