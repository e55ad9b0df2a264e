#include "engine/sharding/shard_figures.h"

#include <memory>

namespace braid::sharding {

ShardFigures::~ShardFigures() {
  for (const Block* block = first_.load(); block != nullptr;) {
    const std::unique_ptr<const Block> owned(block);
    block = block->next.load();
  }
}

ShardFigures::Cell& ShardFigures::CellOf(storage::ShardNumber shard) {
  std::atomic<Block*>* link = &first_;
  for (size_t skip = shard / Block::kShards;; --skip) {
    Block* block = link->load(std::memory_order_acquire);
    if (block == nullptr) {
      auto made = std::make_unique<Block>();
      // If another thread was faster, `block` is its block now and ours is freed.
      if (link->compare_exchange_strong(block, made.get(), std::memory_order_acq_rel)) block = made.release();
    }
    if (skip == 0) return block->cells[shard % Block::kShards];
    link = &block->next;
  }
}

ShardFigures::Figures ShardFigures::Of(storage::ShardNumber shard) const {
  const Block* block = first_.load(std::memory_order_acquire);
  for (size_t skip = shard / Block::kShards; skip > 0 && block != nullptr; --skip) {
    block = block->next.load(std::memory_order_acquire);
  }
  if (block == nullptr) return {};
  const Cell& cell = block->cells[shard % Block::kShards];
  return {cell.asked.load(std::memory_order_relaxed), cell.written.load(std::memory_order_relaxed)};
}

}  // namespace braid::sharding
