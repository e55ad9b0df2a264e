// ShardFigures: the number of operations of each shard for one collection.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "engine/storage/keys.h"

namespace braid::sharding {

/// Counts without a lock and grows with the highest shard. Any thread.
class ShardFigures {
 public:
  struct Figures {
    uint64_t asked = 0;    // reads, and searches of updates and deletes, that looked at the shard
    uint64_t written = 0;  // documents inserted, changed, removed or moved there
  };

  ShardFigures() = default;
  ~ShardFigures();
  ShardFigures(const ShardFigures&) = delete;
  ShardFigures& operator=(const ShardFigures&) = delete;

  void CountAsked(storage::ShardNumber shard) { CellOf(shard).asked.fetch_add(1, std::memory_order_relaxed); }
  void CountWritten(storage::ShardNumber shard) { CellOf(shard).written.fetch_add(1, std::memory_order_relaxed); }
  /// Zeros for a shard that nothing was counted for.
  Figures Of(storage::ShardNumber shard) const;

 private:
  struct Cell {
    std::atomic<uint64_t> asked{0};
    std::atomic<uint64_t> written{0};
  };
  // The figures of neighbouring shards. Blocks are only ever added at the end of the list.
  struct Block {
    static constexpr size_t kShards = 32;
    std::array<Cell, kShards> cells;
    std::atomic<Block*> next{nullptr};
  };
  Cell& CellOf(storage::ShardNumber shard);

  std::atomic<Block*> first_{nullptr};  // null until a sharded collection is used
};

}  // namespace braid::sharding
