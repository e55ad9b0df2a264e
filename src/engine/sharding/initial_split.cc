// The chunks of an empty collection: for a hashed key equal ranges of the hash's 64 bits, for any other one chunk.
#include <algorithm>
#include <limits>

#include "base/assert.h"
#include "base/strings.h"
#include "engine/bson/json.h"
#include "engine/sharding/placement.h"

namespace braid::sharding {
namespace {

constexpr uint32_t kChunksMax = 8192;

/// n - 1 points in order: 0 and its multiples to both sides if n is even, half an interval off it if n is odd.
std::vector<int64_t> SplitPoints(uint32_t n) {
  const int64_t interval = (std::numeric_limits<int64_t>::max() / n) * 2;
  std::vector<int64_t> points;
  int64_t at = n % 2 == 0 ? 0 : interval / 2;
  if (n % 2 == 0) points.push_back(0);
  for (uint32_t i = 0; i < (n - 1) / 2; ++i) {
    if (n % 2 == 0) at += interval;
    points.push_back(at);
    points.push_back(-at);
    if (n % 2 != 0) at += interval;
  }
  std::ranges::sort(points);
  BRAID_ASSERT(points.size() == n - 1);
  return points;
}

}  // namespace

Status SplitInitially(const ShardNumbers& shards, ShardNumber primary, uint32_t chunks, Placement* placement) {
  const ShardKey& key = placement->key;
  const auto add = [&](bson::Document min, ShardNumber shard) -> Status {
    Chunk chunk{.shard = shard, .since = placement->timestamp, .id = bson::ObjectId::Generate()};
    BRAID_TRY(chunk.begin, key.Encode(min));
    chunk.min = std::move(min);
    chunk.minor = static_cast<uint32_t>(placement->chunks.size());
    placement->chunks.push_back(std::move(chunk));
    return {};
  };
  placement->chunks.clear();
  if (!key.starts_hashed()) {
    if (chunks > 1) {
      return {Code::kInvalidOptions,
              "numInitialChunks is only supported when the first field of the shard key is hashed"};
    }
    return add(key.Lowest(), primary);
  }
  if (shards.empty()) return {Code::kIllegalOperation, "every shard is being removed: there is none for the chunks"};
  const auto shard_count = static_cast<uint32_t>(shards.size());
  const uint32_t n = chunks != 0 ? chunks : 2 * shard_count;
  if (n > kChunksMax * shard_count || n > 1'000'000) {
    return {Code::kInvalidOptions, StrCat("numInitialChunks cannot be more than either: ", kChunksMax,
                                          "; 8192 * number of shards, or 1000000")};
  }
  const uint32_t per_shard = std::max<uint32_t>(1, n / shard_count);
  BRAID_CHECK_OK(add(key.Lowest(), shards[0]));
  uint32_t i = 1;
  for (const int64_t point : SplitPoints(n)) {
    BRAID_TRY(bson::Document min, key.Complete(bson::Make(key.fields().front().path, point)));
    BRAID_CHECK_OK(add(std::move(min), shards[(i++ / per_shard) % shard_count]));
  }
  BRAID_ASSERT(placement->IsWhole());
  return {};
}

}  // namespace braid::sharding
