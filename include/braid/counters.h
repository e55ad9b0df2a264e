// Counters: hot totals spread over logical shards, so that writers never wait for each other (A1–A3).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "braid/transaction.h"

namespace braid {

/// At most so many fields a set.
inline constexpr size_t kCounterFieldsMax = 8;
using CounterValues =
    std::array<int64_t, kCounterFieldsMax>;  ///< in the order of CounterOptions::fields; the rest is 0

struct CounterOptions {
  std::string database;
  /// The set's documents: {_id: "{shard}"} of the whole, {_id: "{entity}:{shard}"} of an entity (A1).
  std::string collection;
  std::vector<std::string> fields;
  /// Logical shards N: more are more writers side by side, and as many documents for each sum (A2). Default
  /// 10, 1..10000. May be raised at any time, while others write too; never lowered (A3).
  uint32_t shard_count = 10;

  Status Validate() const;
};

/// One named set of counters. Any thread.
///
/// A sum is the sum of its shards' documents, whoever wrote them: increments may go to any shard, and each may be
/// negative; only the sums mean something. The number of shards is kept in the collection `counter_sets`
/// ({_id: collection, shards: N}) and never falls, so a sum covers every shard ever used, whatever this process was
/// told.
class Counters {
 public:
  struct Increment {
    std::string entity;  // empty: the whole
    CounterValues by{};
  };
  struct Entity {
    std::string name;
    CounterValues sums{};
    /// It has a document in shard 0, by which entities are counted; see Add().
    bool counted = false;
  };

  /// Raises the stored number of shards if the options say more. kShardCountLowered if they say less.
  static Result<std::unique_ptr<Counters>> Open(Clients& clients, const CounterOptions& options);

  /// Adds to `shard` (0 … shard_count()-1) as part of the transaction. Increments of one entity become one change.
  Status Add(Transaction& transaction, uint32_t shard, std::span<const Increment> increments);

  /// The same, and counts entities that were never added to before, each exactly once whoever adds it: its first
  /// increment goes to its shard 0, whose document two transactions cannot both create. Once in a transaction: a second
  /// call would take what the first one added for stored.
  Result<int64_t> AddCountingNew(Transaction& transaction, uint32_t shard, std::span<const Increment> increments);

  /// The exact sum at the transaction's snapshot; zeros if there is nothing.
  Result<CounterValues> Sum(Transaction& transaction, std::string_view entity) const;

  /// Every entity, by name. Streams: memory does not grow with their number.
  Status ForEach(Transaction& transaction, const std::function<Status(const Entity&)>& each) const;

  /// Makes the sum of `entity` (empty: the whole) what is given, by adding the difference to shard 0: for repairs.
  Status Correct(Transaction& transaction, std::string_view entity, const CounterValues& sums);

  /// The logical shards in use: documents to read for one sum.
  uint32_t shard_count() const { return shard_count_; }
  const CounterOptions& options() const { return options_; }

 private:
  Counters(const CounterOptions& options, uint32_t shard_count) : options_(options), shard_count_(shard_count) {}
  void AddTo(const bson_t& document, CounterValues& sums) const;

  const CounterOptions options_;
  const uint32_t shard_count_;
  std::mutex mu_;
  std::unordered_set<std::string> counted_;  // guarded by mu_: entities known to have been counted; a part of them
};

struct ShardLeaseOptions {
  std::string database;
  /// What the shards are of; leases of different groups have nothing to do with each other.
  std::string group;
  uint32_t shard_count = 10;
  /// A process that does not renew for so long has lost its shards to whoever asks. Default 10 s, at least 1 s.
  int64_t lifetime_ms = 10'000;
};

/// A shard for one writer alone, so that it collides with nobody; kept in the collection `counter_leases`
/// ({_id: "{group}:{shard}", owner, expires_at}). When all shards are taken, shards are chosen at random, as clients do
/// that know nothing of leases: a collision costs a retry and never correctness. So is a clock that is wrong. One
/// thread at a time.
class ShardLease {
 public:
  static Result<std::unique_ptr<ShardLease>> Take(Clients& clients, const ShardLeaseOptions& options);
  ~ShardLease();  ///< gives the shard back
  ShardLease(const ShardLease&) = delete;
  ShardLease& operator=(const ShardLease&) = delete;

  /// The shard to write to now; renews the lease when a third of its life is over, and looks for another one when it
  /// was lost.
  Result<uint32_t> Shard();
  bool owned() const { return shard_ >= 0; }

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
