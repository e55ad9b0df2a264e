#include "engine/sharding/placement.h"

#include <algorithm>

#include "base/assert.h"
#include "base/strings.h"
#include "engine/bson/compare.h"
#include "engine/bson/json.h"

namespace braid::sharding {

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

}  // namespace braid::sharding
