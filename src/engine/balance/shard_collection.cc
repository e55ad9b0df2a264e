#include "engine/balance/shard_collection.h"

#include <thread>

#include "base/assert.h"
#include "base/strings.h"
#include "engine/balance/walk.h"
#include "engine/bson/json.h"
#include "engine/txn/index_build.h"
#include "engine/txn/records.h"

namespace braid::balance {
namespace {

using catalog::Collection;
using catalog::CollectionPtr;
using sharding::Placement;

/// The index that is made for a shard key, named as createIndexes would.
Result<catalog::IndexSpec> IndexFor(const ShardOptions& options) {
  std::string name;
  for (const auto& field : options.key.fields()) {
    name += StrCat(name.empty() ? "" : "_", field.path, "_", field.hashed ? "hashed" : "1");
  }
  bson::Builder spec;
  spec.Append("key", options.key.pattern()).Append("name", name);
  if (options.unique) spec.Append("unique", true);
  return catalog::IndexSpec::Parse(spec.Finish(), nullptr);
}

class Sharder {
 public:
  Sharder(txn::Context& context, const catalog::Namespace& ns, const ShardOptions& options)
      : context_(context), shared_(context.shared()), ns_(ns), options_(options) {}

  Status Run() {
    BRAID_TRY(const bool done, CheckState());
    if (done) return {};
    BRAID_CHECK_OK(EnsureIndex());
    BRAID_CHECK_OK(Announce());
    Status status = Fill();
    if (status.ok()) status = Show();
    if (!status.ok()) BRAID_CHECK_OK(Withdraw());
    return status;
  }

 private:
  /// True if the collection is sharded by this key already.
  Result<bool> CheckState() {
    const CollectionPtr collection = shared_.catalog.Find(ns_);
    if (collection == nullptr) return Status(Code::kNamespaceNotFound, StrCat("ns not found: ", ns_.ToString()));
    number_ = collection->number;
    const Placement& placement = *collection->placement;
    if (placement.preparing) {
      return Status(Code::kConflictingOperationInProgress, StrCat(ns_.ToString(), " is being sharded already"));
    }
    if (!placement.sharded()) return false;
    if (placement.key.pattern().bytes() == options_.key.pattern().bytes() && placement.unique == options_.unique) {
      return true;
    }
    return Status(Code::kAlreadyInitialized,
                  StrCat("sharding already enabled for collection ", ns_.ToString(), " with the key ",
                         bson::ToShell(placement.key.pattern()), placement.unique ? ", unique" : ""));
  }

  Status EnsureIndex() {
    const CollectionPtr collection = shared_.catalog.Find(ns_);
    if (collection == nullptr) return {Code::kNamespaceNotFound, StrCat("ns not found: ", ns_.ToString())};
    if (const catalog::Index* index = collection->ShardKeyIndex(options_.key)) {
      if (options_.unique && !index->spec.unique && !index->spec.is_id()) {
        return {Code::kInvalidOptions, "unique: true needs a unique index on the shard key"};
      }
      return {};
    }
    if (collection->state->documents.load() != 0) {
      return {Code::kInvalidOptions,
              "Please create an index that starts with the proposed shard key before sharding the collection"};
    }
    BRAID_TRY(catalog::IndexSpec spec, IndexFor(options_));
    BRAID_CHECK_OK(txn::BuildIndexes(context_, ns_, {std::move(spec)}));
    return {};
  }

  Status Place(const std::function<Status(Placement*, storage::WriteSet&)>& change, Waiter* waiter) {
    BRAID_TRY(const auto placed, shared_.catalog.Place(ns_, number_, change, waiter));
    context_.NotePosition(placed.position);
    return {};
  }

  Status Announce() {
    const auto announce = [this](Placement* placement, storage::WriteSet&) -> Status {
      if (placement->keeps_global_keys() || placement->is_moving()) {
        return {Code::kConflictingOperationInProgress, StrCat(ns_.ToString(), " is being sharded or moved already")};
      }
      placement->key = options_.key;
      placement->unique = options_.unique;
      placement->epoch = bson::ObjectId::Generate();
      placement->timestamp = options_.timestamp;
      placement->preparing = true;
      placement->chunks.front().min = options_.key.Lowest();
      BRAID_TRY(placement->chunks.front().begin, options_.key.Encode(placement->chunks.front().min));
      return {};
    };
    return Place(announce, &context_.operation());
  }

  /// Gives every document its entries over all shards, and checks that it can be placed.
  Status Fill() {
    txn::Operation& operation = context_.operation();
    operation.message = "Sharding: scanning collection";
    std::string next = storage::DocumentRange(number_).begin;
    while (!next.empty()) {
      BRAID_CHECK_OK(context_.Check());
      BRAID_TRY(HeldCollection held, HeldCollection::Open(context_, ns_, number_));
      std::vector<std::string> keys;
      const auto cursor = shared_.store.NewCursor(storage::DocumentRange(number_), {});
      for (cursor->Seek(next); cursor->Valid() && keys.size() < kBatchDocuments; cursor->Next()) {
        keys.emplace_back(cursor->key());
      }
      BRAID_CHECK_OK(cursor->status());
      next = cursor->Valid() ? std::string(cursor->key()) : std::string();
      txn::Context batch(shared_, operation);
      bool conflict = false;
      for (size_t i = 0; i < keys.size() && !conflict; ++i) {
        const Status status = FillOne(batch, held.get(), keys[i]);
        conflict = status.code() == Code::kWriteConflict;
        if (!conflict) BRAID_CHECK_OK(status);
        if (conflict) next = keys[i];
      }
      BRAID_CHECK_OK(batch.Commit());
      held.Release();
      if (conflict) BRAID_CHECK_OK(batch.WaitForConflict());
    }
    return {};
  }

  Status FillOne(txn::Context& batch, const CollectionPtr& collection, std::string_view key) {
    storage::Buffer document;
    const std::string_view id_key = key.substr(storage::DocumentPrefix(0, 0).size());
    BRAID_TRY(const auto shard, txn::ReadForChange(batch, *collection, id_key, storage::ShardOfKey(key), &document));
    if (!shard) return {};
    BRAID_CHECK_OK(options_.key.KeyOf(bson::View(document.view())));
    return txn::AddGlobalKeys(batch, collection, *shard, bson::View(document.view()));
  }

  Status Show() {
    const auto show = [this](Placement* placement, storage::WriteSet&) -> Status {
      const CollectionPtr collection = shared_.catalog.Find(ns_);
      BRAID_ASSERT(collection != nullptr && placement->preparing);
      if (collection->ShardKeyIndex(options_.key) == nullptr) {
        return {Code::kConflictingOperationInProgress, "the shard key's index was dropped meanwhile"};
      }
      placement->preparing = false;
      const sharding::ShardNumber primary = placement->chunks.front().shard;
      if (collection->state->documents.load() == 0) {
        return sharding::SplitInitially(shared_.catalog.UsableShards(), primary, options_.initial_chunks, placement);
      }
      if (options_.initial_chunks > 1) {
        return {Code::kInvalidOptions, "numInitialChunks is not supported when the collection is not empty."};
      }
      placement->chunks.front().since = options_.timestamp;
      return {};
    };
    return Place(show, &context_.operation());
  }

  /// As if nothing had been: nobody writes meanwhile, and a crash in between is mended at the next start. It has to be
  /// done also if the operation was killed.
  Status Withdraw() {
    const auto withdraw = [this](Placement* placement, storage::WriteSet&) -> Status {
      const CollectionPtr collection = shared_.catalog.Find(ns_);
      BRAID_ASSERT(placement->chunks.size() == 1);  // it has not been shown as sharded
      BRAID_CHECK_OK(shared_.store.DeleteRange(storage::GlobalRange(number_)));
      for (const auto& index : collection->indexes) {
        if (index->number != 0) BRAID_CHECK_OK(shared_.store.DeleteRange(storage::GlobalRange(index->number)));
      }
      *placement = Placement::OnOneShard(placement->chunks.front().shard);
      return {};
    };
    return Place(withdraw, nullptr);
  }

  txn::Context& context_;
  txn::Shared& shared_;
  const catalog::Namespace& ns_;
  const ShardOptions& options_;
  uint32_t number_ = 0;
};

}  // namespace

Status ShardCollection(txn::Context& context, const catalog::Namespace& ns, const ShardOptions& options) {
  return Sharder(context, ns, options).Run();
}

}  // namespace braid::balance
