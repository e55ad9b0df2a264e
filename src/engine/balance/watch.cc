#include "engine/balance/watch.h"

#include "base/log.h"
#include "engine/balance/policy.h"
#include "engine/balance/walk.h"
#include "engine/bson/json.h"

namespace braid::balance {
namespace {

constexpr auto kWarnEvery = std::chrono::hours(1);
constexpr uint64_t kOperationsToTell = 1000;
constexpr int kSampled = 100;

bool IsDue(std::chrono::steady_clock::time_point& warned, std::chrono::steady_clock::time_point now) {
  if (warned != std::chrono::steady_clock::time_point() && now - warned < kWarnEvery) return false;
  warned = now;
  return true;
}

/// The shard key that most of the first entries of a shard share: with one key for most documents it is that one.
std::string CommonKey(txn::Shared& shared, const catalog::Collection& collection, storage::ShardNumber shard) {
  const KeyRange keys = KeyRange::Of(collection, shard, {}, {});
  const auto cursor = shared.store.NewCursor(keys.range, {});
  std::map<std::string, int> counts;
  int seen = 0;
  for (cursor->SeekToFirst(); cursor->Valid() && seen < kSampled; cursor->Next(), ++seen) {
    storage::Buffer document;
    const auto id_key = keys.IdKeyAt(*cursor);
    if (!id_key.ok()) return {};
    const auto found =
        shared.store.Get(storage::DocumentPrefix(collection.number, shard).append(*id_key), {}, &document);
    if (!found.ok() || !*found) continue;
    const auto values = collection.placement->key.PlainValuesOf(bson::View(document.view()));
    if (values.ok()) ++counts[bson::ToShell(*values)];
  }
  for (const auto& [key, count] : counts) {
    if (count * 2 > seen) return key;
  }
  return {};
}

}  // namespace

void Watch::Look() {
  std::map<uint32_t, Seen> still;
  for (const catalog::CollectionPtr& collection : shared_.catalog.All()) {
    if (!collection->sharded()) continue;
    Seen& seen = still[collection->number] = seen_[collection->number];
    CheckScatter(*collection, seen);
    CheckSkew(*collection, seen);
  }
  seen_ = std::move(still);
}

void Watch::CheckScatter(const catalog::Collection& collection, Seen& seen) {
  const uint64_t targeted = collection.state->targeted.load() - seen.targeted;
  const uint64_t scattered = collection.state->scattered.load() - seen.scattered;
  if (targeted + scattered < kOperationsToTell || scattered <= targeted) return;
  if (!IsDue(seen.scatter_warned, shared_.clock.Now())) return;
  seen.targeted += targeted;
  seen.scattered += scattered;
  log::warn(
      "{}: {} of the last {} operations had to ask several shards, because their filters do not fix the shard key {}; "
      "`braid shards advise` rates other keys",
      collection.ns.ToString(), scattered, targeted + scattered, bson::ToShell(collection.placement->key.pattern()));
}

void Watch::CheckSkew(const catalog::Collection& collection, Seen& seen) {
  const int64_t documents = collection.state->documents.load();
  const sharding::ShardNumbers shards = shared_.catalog.UsableShards();
  if (documents < kDocumentsToTell || shards.size() < 2 || collection.placement->is_moving()) return;
  for (const storage::ShardNumber shard : shards) {
    const auto count = shared_.store.ReadCounter(storage::CountKey(collection.number, shard), {});
    if (!count.ok() || *count * 2 <= documents || *count * static_cast<int64_t>(shards.size()) <= documents * 3 / 2) {
      continue;
    }
    if (collection.ShardKeyIndex(collection.placement->key) == nullptr ||
        !IsDue(seen.skew_warned, shared_.clock.Now())) {
      return;
    }
    const std::string key = CommonKey(shared_, collection, shard);
    log::warn("{}: {} of {} documents are on {}{}{}; their shard key {} does not spread them", collection.ns.ToString(),
              *count, documents, shared_.catalog.cluster().NameOf(shard), key.empty() ? "" : ", most of them with ",
              key, bson::ToShell(collection.placement->key.pattern()));
    return;
  }
}

}  // namespace braid::balance
