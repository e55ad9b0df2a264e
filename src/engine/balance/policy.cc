#include "engine/balance/policy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/assert.h"
#include "engine/balance/walk.h"
#include "engine/bson/key_encoding.h"

namespace braid::balance {
namespace {

using sharding::Placement;

constexpr double kWhole = 18446744073709551616.0;  // 2^64

/// The part of a stored key that is the shard key.
std::string_view ShardKeyBytes(std::string_view values, size_t fields) {
  size_t size = 0;
  for (size_t i = 0; i < fields; ++i) size += bson::KeySize(values.substr(size));
  return values.substr(0, size);
}

/// Walks a chunk from its end; returns the largest part that begins between two keys and has at most `documents`.
Result<std::optional<Picked>> PickFrom(txn::Context& context, const catalog::Collection& collection,
                                       storage::ShardNumber shard, size_t chunk, uint64_t documents) {
  const Placement& placement = *collection.placement;
  const KeyRange keys = KeyRange::Of(collection, shard, placement.chunks[chunk].begin, placement.EndOf(chunk));
  const auto cursor = context.NewCursor(keys.range);
  Picked picked{.range = {{}, placement.MaxOf(chunk)}};
  std::string last;
  uint64_t seen = 0;
  for (cursor->SeekToLast(); cursor->Valid(); cursor->Prev()) {
    BRAID_CHECK_OK(context.Check());
    const std::string_view key = ShardKeyBytes(cursor->key().substr(keys.prefix_size), placement.key.fields().size());
    if (key != last && seen > 0) {  // everything above here can be moved
      picked.documents = seen;
      cursor->Next();
      if (!cursor->Valid()) break;  // a block could not be read
      BRAID_TRY(picked.range.min, keys.ShardKeyAt(*cursor, placement.key));
      cursor->Prev();
    }
    if (seen == documents) break;
    ++seen;
    last = key;
  }
  BRAID_CHECK_OK(cursor->status());
  if (!cursor->Valid() && seen <= documents) {  // all of it
    picked.range.min = placement.chunks[chunk].min;
    picked.documents = seen;
  }
  BRAID_ASSERT(picked.documents <= documents);
  if (picked.documents == 0) return std::optional<Picked>();
  return std::optional<Picked>(std::move(picked));
}

/// The hash where a chunk begins, as a place in 0 … 2^64.
double PlaceOf(const Placement& placement, size_t chunk) {
  if (chunk >= placement.chunks.size()) return kWhole;
  const bson::Value first = placement.chunks[chunk].min.view().begin()->value;
  if (!first.Is(bson::Type::kInt64)) return 0;
  return static_cast<double>(first.AsInt64()) + kWhole / 2;
}

}  // namespace

std::optional<Transfer> NextTransfer(const std::vector<Load>& loads, const Tolerance& tolerance, bool* under_way) {
  double total = 0;
  size_t usable = 0;
  const Load* least = nullptr;
  for (const Load& load : loads) {
    total += load.amount;
    if (load.draining) continue;
    ++usable;
    if (least == nullptr || load.amount < least->amount) least = &load;
  }
  if (least == nullptr) return std::nullopt;
  const double mean = total / static_cast<double>(usable);
  const auto surplus = [mean](const Load& load) { return load.draining ? load.amount : load.amount - mean; };

  const Load* most = nullptr;
  double deviation = 0;
  for (const Load& load : loads) {
    deviation = std::max(deviation, load.draining ? load.amount : std::abs(load.amount - mean));
    if (load.stuck || surplus(load) <= 0) continue;
    if (most == nullptr || surplus(load) > surplus(*most)) most = &load;
  }
  if (deviation > tolerance.begin) *under_way = true;
  if (!*under_way || most == nullptr) return std::nullopt;
  const double amount = std::min(surplus(*most), mean - least->amount);
  if (amount < tolerance.end) {
    *under_way = false;
    return std::nullopt;
  }
  BRAID_ASSERT(most != least && amount >= 0);
  return Transfer{most->shard, least->shard, amount};
}

Result<std::optional<Picked>> PickByDocuments(txn::Context& context, const catalog::Collection& collection,
                                              storage::ShardNumber shard, uint64_t documents) {
  const Placement& placement = *collection.placement;
  std::optional<Picked> best;
  for (size_t i = placement.chunks.size(); i-- > 0;) {
    if (placement.chunks[i].shard != shard || placement.chunks[i].from) continue;
    BRAID_TRY(std::optional<Picked> picked, PickFrom(context, collection, shard, i, documents));
    if (!picked || (best && picked->documents <= best->documents)) continue;
    best = std::move(picked);
    if (best->documents == documents) break;
  }
  return best;
}

Result<std::optional<bson::Document>> MedianKey(txn::Context& context, const catalog::Collection& collection,
                                                size_t chunk) {
  const Placement& placement = *collection.placement;
  const storage::ShardNumber shard = placement.chunks[chunk].shard;
  const KeyRange keys = KeyRange::Of(collection, shard, placement.chunks[chunk].begin, placement.EndOf(chunk));
  uint64_t documents = 0;
  const auto cursor = context.NewCursor(keys.range);
  for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
    BRAID_CHECK_OK(context.Check());
    ++documents;
  }
  BRAID_CHECK_OK(cursor->status());
  for (uint64_t half = (documents + 1) / 2; half < documents; half = half * 2) {
    BRAID_TRY(const auto upper, PickFrom(context, collection, shard, chunk, half));
    if (upper) return std::optional<bson::Document>(upper->range.min);
  }
  return std::optional<bson::Document>();
}

double WidthOf(const Placement& placement, storage::ShardNumber shard) {
  double width = 0;
  for (size_t i = 0; i < placement.chunks.size(); ++i) {
    if (placement.chunks[i].shard == shard) width += PlaceOf(placement, i + 1) - PlaceOf(placement, i);
  }
  return width / kWhole;
}

std::optional<KeyBoundsOfMove> PickByWidth(const Placement& placement, storage::ShardNumber shard, double share) {
  for (size_t i = placement.chunks.size(); i-- > 0;) {
    if (placement.chunks[i].shard != shard || placement.chunks[i].from) continue;
    const double begin = PlaceOf(placement, i);
    const double end = PlaceOf(placement, i + 1);
    if (end - begin <= share * kWhole) return KeyBoundsOfMove{placement.chunks[i].min, placement.MaxOf(i)};
    const double cut = end - share * kWhole - kWhole / 2;
    if (cut <= begin - kWhole / 2 || std::abs(cut) >= static_cast<double>(std::numeric_limits<int64_t>::max()))
      continue;
    const auto bound =
        placement.key.Complete(bson::Make(placement.key.fields().front().path, static_cast<int64_t>(cut)));
    if (bound.ok()) return KeyBoundsOfMove{*bound, placement.MaxOf(i)};
  }
  return std::nullopt;
}

}  // namespace braid::balance
