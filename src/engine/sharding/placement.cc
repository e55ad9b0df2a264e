// Placement: which chunk and shard a key belongs to, and the chunks of an empty collection. placement_store.cc stores
// it.
#include "engine/sharding/placement.h"

#include <algorithm>
#include <limits>

#include "base/assert.h"
#include "base/strings.h"
#include "engine/bson/compare.h"
#include "engine/bson/json.h"

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

void AddShard(ShardNumber shard, ShardNumbers* shards) {
  const auto at = std::ranges::lower_bound(*shards, shard);
  if (at == shards->end() || *at != shard) shards->insert(at, shard);
}

Placement Placement::OnOneShard(ShardNumber shard) {
  Placement placement;
  placement.chunks.push_back({.shard = shard, .id = bson::ObjectId::Generate()});
  return placement;
}

bool Placement::IsWhole() const {
  const auto lowest = key.Encode(key.Lowest());
  if (chunks.empty() || !lowest.ok() || chunks.front().begin != *lowest) return false;
  for (size_t i = 0; i < chunks.size(); ++i) {
    if (chunks[i].from == chunks[i].shard || (i > 0 && chunks[i].begin <= chunks[i - 1].begin)) return false;
  }
  return true;
}

size_t Placement::IndexOf(std::string_view shard_key) const {
  BRAID_ASSERT(!chunks.empty());
  const auto above = std::ranges::upper_bound(chunks, shard_key, {}, &Chunk::begin);
  return above == chunks.begin() ? 0 : static_cast<size_t>(above - chunks.begin()) - 1;
}

std::string_view Placement::EndOf(size_t chunk) const {
  BRAID_ASSERT(chunk < chunks.size());
  return chunk + 1 < chunks.size() ? std::string_view(chunks[chunk + 1].begin) : std::string_view();
}

bson::Document Placement::MaxOf(size_t chunk) const {
  BRAID_ASSERT(chunk < chunks.size());
  return chunk + 1 < chunks.size() ? chunks[chunk + 1].min : key.Highest();
}

ShardNumbers Placement::Shards() const {
  ShardNumbers shards;
  AddShardsOf({}, {}, &shards);
  return shards;
}

void Placement::AddShardsOf(std::string_view begin, std::string_view end, ShardNumbers* shards) const {
  for (size_t i = IndexOf(begin); i < chunks.size(); ++i) {
    if (!end.empty() && i > 0 && chunks[i].begin >= end) break;
    AddShard(chunks[i].shard, shards);
    if (chunks[i].from) AddShard(*chunks[i].from, shards);
  }
}

bool Placement::is_moving() const {
  return std::ranges::any_of(chunks, [](const Chunk& chunk) { return chunk.from.has_value(); });
}

void Placement::Bump(Chunk* chunk, bool moved) {
  uint32_t major = 0;
  uint32_t minor = 0;
  for (const Chunk& other : chunks) {
    if (other.major > major || (other.major == major && other.minor > minor)) {
      major = other.major;
      minor = other.minor;
    }
  }
  chunk->major = moved ? major + 1 : major;
  chunk->minor = moved ? 0 : minor + 1;
}

Status Placement::Split(bson::View bound) {
  BRAID_TRY(std::string begin, key.Encode(bound));
  const size_t at = IndexOf(begin);
  if (chunks[at].begin == begin) return {};
  if (begin <= chunks.front().begin || bson::Compare(bound, key.Highest()) == 0) {
    return {Code::kBadValue, StrCat("cannot split at ", bson::ToShell(bound), ": it is the end of all keys")};
  }
  Chunk upper = chunks[at];
  upper.begin = std::move(begin);
  upper.min = bson::Document(bound);
  upper.id = bson::ObjectId::Generate();
  Bump(&upper, false);
  chunks.insert(chunks.begin() + static_cast<ptrdiff_t>(at) + 1, std::move(upper));
  Bump(&chunks[at], false);
  BRAID_ASSERT(IsWhole());
  return {};
}

Status Placement::Merge(std::string_view begin, std::string_view end) {
  const size_t first = IndexOf(begin);
  size_t last = first + 1;
  while (last < chunks.size() && (end.empty() || chunks[last].begin < end)) ++last;
  if (chunks[first].begin != begin || (last < chunks.size() && chunks[last].begin != end)) {
    return {Code::kIllegalOperation, "the range to be merged does not begin and end where chunks do"};
  }
  if (last - first < 2) return {Code::kIllegalOperation, "there is only one chunk in the range: nothing to merge"};
  for (size_t i = first; i < last; ++i) {
    if (chunks[i].shard != chunks[first].shard || chunks[i].from) {
      return {Code::kIllegalOperation, "the chunks of the range are not on one shard, or are being moved"};
    }
  }
  Bump(&chunks[first], false);  // before the merged chunks are removed: higher than theirs, too
  chunks.erase(chunks.begin() + static_cast<ptrdiff_t>(first) + 1, chunks.begin() + static_cast<ptrdiff_t>(last));
  BRAID_ASSERT(IsWhole());
  return {};
}

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
