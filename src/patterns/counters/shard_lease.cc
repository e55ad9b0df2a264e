// Which writer has which logical shard.
#include <unordered_set>
#include <utility>

#include "base/random.h"
#include "base/strings.h"
#include "braid/clock.h"
#include "braid/counters.h"
#include "client/fields.h"
#include "client/handles.h"

namespace braid {
namespace {

using client::Bson;

constexpr const char* kLeases = "counter_leases";

int64_t NowMillis() { return Clock::System().NowMillis(); }

// Runs one update of the leases; false if another owner holds the wanted lease.
Result<bool> Change(Clients& clients, const std::string& database, const Bson& filter, const Bson& change,
                    bool upsert) {
  const Client client = clients.Acquire();
  const client::CollectionPtr leases = client::CollectionOf(client.get(), database, kLeases);
  Bson opts;
  opts.Bool("upsert", upsert);
  Bson reply;
  bson_error_t error{};
  if (!mongoc_collection_update_one(leases.get(), filter.get(), change.get(), opts.get(), reply.get(), &error)) {
    const Status status = client::FromError(error);
    if (status.code() == Code::kDuplicateKey) return false;
    return status;
  }
  return client::IntegerOf(reply.get(), "matchedCount") + client::IntegerOf(reply.get(), "upsertedCount") > 0;
}

}  // namespace

ShardLease::ShardLease(Clients& clients, const ShardLeaseOptions& options)
    : clients_(clients), options_(options), owner_(StrCat(RandomSeed(), "-", RandomSeed())) {}

Result<std::unique_ptr<ShardLease>> ShardLease::Take(Clients& clients, const ShardLeaseOptions& options) {
  if (options.lifetime_ms < 1000) return Status(Code::kBadValue, "a lease of a shard lasts at least a second");
  std::unique_ptr<ShardLease> lease(new ShardLease(clients, options));
  BRAID_CHECK_OK(lease->TakeAny());
  return lease;
}

ShardLease::~ShardLease() { Close().Ignore("the lease ends by itself when its time is over"); }

Status ShardLease::Close() {
  if (!owned()) return {};
  Bson mine;
  mine.Text("_id", StrCat(options_.group, ":", std::exchange(shard_, -1))).Text("owner", owner_);
  Bson over;
  over.Date("expires_at", 0);
  Bson change;
  change.Document("$set", over);
  return Change(clients_, options_.database, mine, change, false).status();
}

// The update takes over an expired lease and inserts one that does not exist. If another owner holds it, the update
// tries to insert a second document with the same _id, which is refused.
Result<bool> ShardLease::TryTake(uint32_t shard) {
  const int64_t now = NowMillis();
  Bson before;
  before.Date("$lt", now);
  Bson filter;
  filter.Text("_id", StrCat(options_.group, ":", shard)).Document("expires_at", before);
  Bson fields;
  fields.Text("owner", owner_).Date("expires_at", now + options_.lifetime_ms);
  Bson change;
  change.Document("$set", fields);
  return Change(clients_, options_.database, filter, change, true);
}

Status ShardLease::TakeAny() {
  shard_ = -1;
  renew_at_ms_ = NowMillis() + options_.lifetime_ms / 3;
  std::unordered_set<std::string> taken;
  {
    Bson after;
    after.Date("$gte", NowMillis());
    Bson filter;
    filter.Document("expires_at", after);
    const Client client = clients_.Acquire();
    const client::CollectionPtr leases = client::CollectionOf(client.get(), options_.database, kLeases);
    const client::CursorPtr cursor(mongoc_collection_find_with_opts(leases.get(), filter.get(), nullptr, nullptr));
    const bson_t* document = nullptr;
    while (mongoc_cursor_next(cursor.get(), &document)) taken.emplace(client::TextOf(document, "_id"));
    bson_error_t error{};
    if (mongoc_cursor_error(cursor.get(), &error)) return client::FromError(error);
  }
  for (uint32_t shard = 0; shard < options_.shard_count; ++shard) {
    if (taken.contains(StrCat(options_.group, ":", shard))) continue;
    BRAID_TRY(const bool ours, TryTake(shard));
    if (!ours) continue;
    shard_ = shard;
    return {};
  }
  return {};
}

Status ShardLease::Renew() {
  const int64_t now = NowMillis();
  renew_at_ms_ = now + options_.lifetime_ms / 3;
  Bson mine;
  mine.Text("_id", StrCat(options_.group, ":", shard_)).Text("owner", owner_);
  Bson fields;
  fields.Date("expires_at", now + options_.lifetime_ms);
  Bson change;
  change.Document("$set", fields);
  BRAID_TRY(const bool ours, Change(clients_, options_.database, mine, change, false));
  return ours ? Status() : TakeAny();
}

Result<uint32_t> ShardLease::Shard() {
  if (NowMillis() >= renew_at_ms_) BRAID_CHECK_OK(owned() ? Renew() : TakeAny());
  if (owned()) return static_cast<uint32_t>(shard_);
  static thread_local Random random(RandomSeed());
  return static_cast<uint32_t>(random.Below(options_.shard_count));
}

}  // namespace braid
