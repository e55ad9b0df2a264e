#include "engine/balance/move.h"

#include <algorithm>
#include <chrono>

#include "base/assert.h"
#include "base/strings.h"
#include "engine/balance/walk.h"
#include "engine/bson/json.h"
#include "engine/txn/records.h"

namespace braid::balance {
namespace {

using catalog::CollectionPtr;
using sharding::Chunk;
using sharding::Placement;
using storage::ShardNumber;

constexpr auto kWaitForOthers = std::chrono::milliseconds(1);

/// A range of shard keys of which nothing is left on its old shard.
struct Emptied {
  std::string begin;
  std::string end;  // empty: the end of all keys
  ShardNumber from;
};

class Mover {
 public:
  Mover(txn::Context& context, const catalog::Namespace& ns, uint32_t number)
      : context_(context), shared_(context.shared()), ns_(ns), number_(number) {}

  Status Begin(const KeyBoundsOfMove& range, ShardNumber to) {
    return Place([&](Placement* placement, storage::WriteSet&) -> Status {
      if (placement->preparing) {
        return {Code::kConflictingOperationInProgress, StrCat(ns_.ToString(), " is being sharded")};
      }
      std::string end;
      std::string begin;
      if (placement->sharded()) {
        BRAID_TRY(begin, placement->key.Encode(range.min));
        BRAID_TRY(end, placement->key.Encode(range.max));
        if (begin >= end) return {Code::kBadValue, StrCat("the range is empty: ", bson::ToShell(range.min))};
        if (begin > placement->chunks.front().begin) BRAID_CHECK_OK(placement->Split(range.min));
        if (range.max.bytes() != placement->key.Highest().bytes()) BRAID_CHECK_OK(placement->Split(range.max));
      }
      for (Chunk& chunk : placement->chunks) {
        if (chunk.begin < begin || (!end.empty() && chunk.begin >= end)) continue;
        if (chunk.from) {
          return {Code::kConflictingOperationInProgress, StrCat("the chunk ", bson::ToShell(chunk.min), " is moving")};
        }
        if (chunk.shard == to) continue;
        chunk.from = chunk.shard;
        chunk.shard = to;
        placement->Bump(&chunk, true);
      }
      return {};
    });
  }

  /// Moves the remaining documents off the old shards, and then marks the moves as done.
  Result<uint64_t> Finish() {
    while (true) {
      const CollectionPtr collection = shared_.catalog.Find(ns_);
      if (collection == nullptr || collection->number != number_ || !collection->placement->is_moving()) return moved_;
      BRAID_CHECK_OK(context_.Check());
      const uint64_t before = moved_;
      for (size_t i = 0; i < collection->placement->chunks.size(); ++i) {
        const Chunk& chunk = collection->placement->chunks[i];
        if (chunk.from) BRAID_CHECK_OK(Drain(chunk.begin, std::string(collection->placement->EndOf(i)), *chunk.from));
      }
      BRAID_CHECK_OK(End());
      // Others hold what is left.
      if (moved_ == before) BRAID_CHECK_OK(context_.operation().WaitFor(kWaitForOthers));
    }
  }

 private:
  Status Place(const std::function<Status(Placement*, storage::WriteSet&)>& change) {
    BRAID_TRY(const auto placed, shared_.catalog.Place(ns_, number_, change, &context_.operation()));
    context_.NotePosition(placed.position);
    return {};
  }

  /// One pass over the documents of a range that are still on `from`.
  Status Drain(const std::string& begin, const std::string& end, ShardNumber from) {
    std::string next = begin;
    bool more = true;
    while (more) {
      BRAID_CHECK_OK(context_.Check());
      BRAID_TRY(const HeldCollection held, HeldCollection::Open(context_, ns_, number_));
      const KeyRange keys = KeyRange::Of(*held.get(), from, next, end);
      const auto cursor = shared_.store.NewCursor(keys.range, {});
      std::vector<std::string> ids;
      for (cursor->SeekToFirst(); cursor->Valid() && ids.size() < kBatchDocuments; cursor->Next()) {
        BRAID_TRY(std::string id_key, keys.IdKeyAt(*cursor));
        ids.push_back(std::move(id_key));
      }
      BRAID_CHECK_OK(cursor->status());
      more = cursor->Valid();
      if (more) next = std::string(cursor->key().substr(keys.prefix_size));
      txn::Context batch(shared_, context_.operation());
      uint64_t moved = 0;
      for (const std::string& id_key : ids) {
        const auto done = MoveOne(batch, held.get(), id_key, from);
        if (!done.ok() && done.error().code() == Code::kWriteConflict) continue;  // the next pass
        BRAID_TRY(const bool one, done);
        moved += one ? 1 : 0;
      }
      BRAID_CHECK_OK(batch.Commit());
      context_.NotePosition(batch.position());
      moved_ += moved;
    }
    return {};
  }

  static Result<bool> MoveOne(txn::Context& batch, const CollectionPtr& collection, const std::string& id_key,
                              ShardNumber from) {
    storage::Buffer buffer;
    BRAID_TRY(const auto shard, txn::ReadForChange(batch, *collection, id_key, from, &buffer));
    if (shard != from) return false;
    const bson::View document(buffer.view());
    std::string key;
    if (collection->sharded()) {
      BRAID_TRY(key, collection->placement->key.KeyOf(document));
    }
    const Chunk& chunk = collection->placement->ChunkOf(key);
    if (chunk.from != from) return false;
    BRAID_ASSERT(chunk.shard != from);
    BRAID_CHECK_OK(txn::Move(batch, collection, from, chunk.shard, document));
    return true;
  }

  /// Of the chunks that move, those that have left their old shard. Nothing comes back (txn::ShardOfChanged), so
  /// writers need not be kept out: looking over what has been removed there takes long.
  Result<std::vector<Emptied>> FindEmptied() const {
    std::vector<Emptied> emptied;
    const CollectionPtr collection = shared_.catalog.Find(ns_);
    if (collection == nullptr || collection->number != number_) return emptied;
    const Placement& placement = *collection->placement;
    for (size_t i = 0; i < placement.chunks.size(); ++i) {
      const Chunk& chunk = placement.chunks[i];
      if (!chunk.from) continue;
      BRAID_CHECK_OK(context_.Check());
      const KeyRange keys = KeyRange::Of(*collection, *chunk.from, chunk.begin, placement.EndOf(i));
      const auto cursor = shared_.store.NewCursor(keys.range, {});
      cursor->SeekToFirst();
      if (cursor->Valid()) continue;
      BRAID_CHECK_OK(cursor->status());
      emptied.push_back({chunk.begin, std::string(placement.EndOf(i)), *chunk.from});
    }
    return emptied;
  }

  /// Says of the moves that are done that they are.
  Status End() {
    BRAID_TRY(const std::vector<Emptied> emptied, FindEmptied());
    if (emptied.empty()) return {};
    return Place([&](Placement* placement, storage::WriteSet&) -> Status {
      for (size_t i = 0; i < placement->chunks.size(); ++i) {
        Chunk& chunk = placement->chunks[i];
        // The chunk may have been split meanwhile.
        const auto has = [&](const Emptied& range) {
          const std::string_view end = placement->EndOf(i);
          return chunk.from == range.from && range.begin <= chunk.begin &&
                 (range.end.empty() || (!end.empty() && end <= range.end));
        };
        if (!chunk.from || std::ranges::none_of(emptied, has)) continue;
        chunk.from.reset();
        chunk.since = static_cast<uint64_t>(shared_.clock.NowMillis() / 1000) << 32 | 1;
      }
      return {};
    });
  }

  txn::Context& context_;
  txn::Shared& shared_;
  const catalog::Namespace& ns_;
  const uint32_t number_;
  uint64_t moved_ = 0;
};

}  // namespace

Result<uint64_t> MoveRange(txn::Context& context, const catalog::Namespace& ns, uint32_t number,
                           const KeyBoundsOfMove& range, ShardNumber to) {
  Mover mover(context, ns, number);
  BRAID_CHECK_OK(mover.Begin(range, to));
  return mover.Finish();
}

Result<uint64_t> ContinueMoves(txn::Context& context, const catalog::Namespace& ns, uint32_t number) {
  return Mover(context, ns, number).Finish();
}

}  // namespace braid::balance
