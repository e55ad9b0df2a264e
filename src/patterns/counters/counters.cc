#include "braid/counters.h"

#include <algorithm>
#include <deque>
#include <map>
#include <unordered_set>

#include "base/mutex.h"
#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"
#include "patterns/counters/ids.h"

namespace braid {
namespace {

using client::Bson;
using counters::EntityOf;
using counters::IdOf;
using counters::kRanked;
using counters::kSets;
using counters::kShardsMax;
using counters::kUnranked;
using counters::NoSuchField;
using counters::Overflow;

constexpr size_t kCountedMax = 1'000'000;

Status CheckName(std::string_view entity) {
  if (entity.find(':') == std::string_view::npos && entity.find('\0') == std::string_view::npos) return {};
  return Status(Code::kBadValue, StrCat("the counted entity '", entity, "' has a ':' in its name"));
}

// The changes of one Add: filters and updates stay alive until the command is sent.
class Changes {
 public:
  explicit Changes(const CounterOptions& options) : fields_(options.fields), ranked_(!options.ranking.empty()) {}

  void Add(const std::string& id, const CounterValues& by) {
    Bson deltas;
    for (const std::string& field : fields_) {
      if (const int64_t value = by[field]; value != 0) deltas.Integer(field.c_str(), value);
    }
    if (deltas.empty()) return;
    Bson& filter = parts_.emplace_back();
    filter.Text("_id", id);
    Bson& change = parts_.emplace_back();
    change.Document("$inc", deltas);
    if (ranked_ && !EntityOf(id).empty()) {
      Bson mark;
      mark.Bool(kUnranked, true);
      change.Document("$set", mark);
    }
    updates_.push_back({.filter = filter.get(), .change = change.get(), .upsert = true});
  }
  std::span<const Transaction::Update> updates() const { return updates_; }

 private:
  const std::vector<std::string>& fields_;
  const bool ranked_;
  std::deque<Bson> parts_;
  std::vector<Transaction::Update> updates_;
};

struct MergedIncrement {
  CounterValues by;
  bool uncounted = false;
};
using Merged = std::map<std::string_view, MergedIncrement>;

Result<Merged> Merge(const CounterOptions& options, std::span<const Counters::Increment> increments) {
  Merged merged;
  for (const Counters::Increment& increment : increments) {
    auto [place, is_new] = merged.try_emplace(increment.entity);
    if (is_new) BRAID_CHECK_OK(CheckName(increment.entity));
    place->second.uncounted |= increment.uncounted;
    for (const auto& [field, by] : increment.by) {
      if (std::ranges::find(options.fields, field) == options.fields.end()) return NoSuchField(options, field);
      int64_t& sum = place->second.by[field];
      if (__builtin_add_overflow(sum, by, &sum)) return Overflow(options, increment.entity, field);
    }
  }
  return merged;
}

// The store refuses an $inc beyond 64 bits with a code that it also uses for other errors.
Status NameOverflow(const CounterOptions& options, const Status& status) {
  if (status.code() != Code::kBadValue || status.message().find("$inc") == std::string_view::npos) return status;
  return Status(Code::kOverflow, StrCat("a counter of ", options.collection, " would overflow: ", status.message()));
}

// Raises the stored number of shards to `wanted` and gives what is stored then.
Result<uint32_t> RaiseTo(Clients& clients, const CounterOptions& options) {
  Bson filter;
  filter.Text("_id", options.collection);
  Bson most;
  most.Integer("shards", options.shard_count);
  Bson change;
  change.Document("$max", most);
  const Client client = clients.Acquire();
  const client::CollectionPtr sets = client::CollectionOf(client.get(), options.database, kSets);
  const client::FindAndModifyPtr how(mongoc_find_and_modify_opts_new());
  mongoc_find_and_modify_opts_set_update(how.get(), change.get());
  mongoc_find_and_modify_opts_set_flags(
      how.get(),
      static_cast<mongoc_find_and_modify_flags_t>(MONGOC_FIND_AND_MODIFY_UPSERT | MONGOC_FIND_AND_MODIFY_RETURN_NEW));
  Bson reply;
  bson_error_t error{};
  if (!mongoc_collection_find_and_modify_with_opts(sets.get(), filter.get(), how.get(), reply.get(), &error)) {
    return client::FromError(error);
  }
  return static_cast<uint32_t>(client::IntegerOf(reply.get(), "value.shards"));
}

}  // namespace

Status CounterOptions::Validate() const {
  if (fields.empty() || fields.size() > kCounterFieldsMax) {
    return Status(Code::kBadValue, StrCat("a counter set has 1 to ", kCounterFieldsMax, " fields"));
  }
  if (shard_count < 1 || shard_count > kShardsMax) {
    return Status(Code::kBadValue, StrCat("logical-shard-count is ", shard_count, "; it must be 1 to ", kShardsMax));
  }
  return {};
}

// Some of the entities that are known to have been counted, so that they need not be looked for. Any thread.
class Counters::CountedEntities {
 public:
  bool Contains(const std::string& entity) {
    const MutexLock lock(mu_);
    return known_.contains(entity);
  }
  void Add(std::unordered_set<std::string> entities) {
    const MutexLock lock(mu_);
    if (known_.size() + entities.size() > kCountedMax) known_.clear();
    known_.merge(entities);
  }

 private:
  Mutex mu_;
  std::unordered_set<std::string> known_ BRAID_GUARDED_BY(mu_);
};

Counters::Counters(const CounterOptions& options, uint32_t shard_count, bool ranked)
    : options_(options), shard_count_(shard_count), ranked_(ranked), counted_(std::make_unique<CountedEntities>()) {}

Counters::~Counters() = default;

Result<std::unique_ptr<Counters>> Counters::Open(Clients& clients, const CounterOptions& options) {
  BRAID_CHECK_OK(options.Validate());
  BRAID_TRY(const uint32_t stored, RaiseTo(clients, options));
  if (stored > options.shard_count) {
    return Status(
        Code::kShardCountLowered,
        StrCat("the counters of ", options.database, ".", options.collection, " are spread over ", stored,
               " logical shards, and the number can only be raised: ", options.shard_count,
               " would leave shards out of the sums of those who read by that number. Use ", stored, " or more"));
  }
  if (!options.ranking.empty()) BRAID_CHECK_OK(EnsureRanking(clients, options));
  return std::unique_ptr<Counters>(new Counters(options, stored, !options.ranking.empty()));
}

Result<std::unique_ptr<Counters>> Counters::OpenToRead(Clients& clients, const CounterOptions& options) {
  BRAID_CHECK_OK(options.Validate());
  uint32_t stored = 1;
  const std::string name[] = {options.collection};
  BRAID_CHECK_OK(RunTransaction(clients, {.database = options.database}, [&](Transaction& transaction) {
    return transaction.FindIds(kSets, name, [&](const bson_t& document) {
      stored = static_cast<uint32_t>(client::IntegerOf(&document, "shards"));
      return Status();
    });
  }));
  BRAID_TRY(const bool ranked, IsRanked(clients, options));
  return std::unique_ptr<Counters>(new Counters(options, stored, ranked));
}

Status Counters::Add(Transaction& transaction, uint32_t shard, std::span<const Increment> increments) {
  BRAID_TRY(const Merged merged, Merge(options_, increments));
  Changes changes(options_);
  for (const auto& [entity, increment] : merged) changes.Add(IdOf(entity, shard), increment.by);
  return NameOverflow(options_, transaction.UpdateOnes(options_.collection, changes.updates()).status());
}

Result<int64_t> Counters::AddCountingNew(Transaction& transaction, uint32_t shard,
                                         std::span<const Increment> increments) {
  BRAID_TRY(const Merged merged, Merge(options_, increments));
  std::vector<std::string> unknown;
  for (const auto& [entity, increment] : merged) {
    if (!counted_->Contains(std::string(entity))) unknown.push_back(IdOf(entity, 0));
  }
  std::unordered_set<std::string> found;
  BRAID_CHECK_OK(transaction.FindIds(options_.collection, unknown, [&](const bson_t& document) {
    found.insert(std::string(EntityOf(client::TextOf(&document, "_id"))));
    return Status();
  }));
  std::unordered_set<std::string> fresh;
  for (const std::string& id : unknown) {
    if (std::string entity(EntityOf(id)); !found.contains(entity)) fresh.insert(std::move(entity));
  }
  // Only entities that other transactions have stored are remembered: this one may still fail.
  std::unordered_set<std::string>& added_here = transaction.Notes(this);
  std::erase_if(found, [&](const std::string& entity) { return added_here.contains(entity); });
  added_here.insert(fresh.begin(), fresh.end());
  counted_->Add(std::move(found));
  Changes changes(options_);
  std::deque<Bson> documents;
  std::vector<const bson_t*> inserts;
  // A new entity is put into the ranking at once, because no other writer can know it yet.
  std::vector<const bson_t*> places;
  std::unordered_set<std::string> placed;
  if (!options_.ranking.empty()) {
    const std::vector<std::string> names(fresh.begin(), fresh.end());
    BRAID_CHECK_OK(transaction.FindIds(options_.ranking, names, [&](const bson_t& document) {
      placed.emplace(client::TextOf(&document, "_id"));
      return Status();
    }));
  }
  int64_t counted = 0;
  for (const auto& [entity, increment] : merged) {
    if (!fresh.contains(std::string(entity))) {
      changes.Add(IdOf(entity, shard), increment.by);
      continue;
    }
    Bson& document = documents.emplace_back();
    document.Text("_id", IdOf(entity, 0));
    for (const std::string& field : options_.fields) document.Integer(field.c_str(), increment.by[field]);
    if (placed.contains(std::string(entity))) {  // another program has made it, in another shard
      document.Bool(kUnranked, true);
    } else if (!options_.ranking.empty()) {
      const int64_t first = increment.by[options_.fields[0]];
      document.Integer(kRanked, first);
      Bson& place = documents.emplace_back();
      place.Text("_id", entity).Integer(options_.fields[0].c_str(), first);
      places.push_back(place.get());
    }
    inserts.push_back(document.get());
    if (!increment.uncounted) ++counted;
  }
  BRAID_CHECK_OK(transaction.Insert(options_.ranking, places));
  BRAID_CHECK_OK(transaction.Insert(options_.collection, inserts));
  BRAID_CHECK_OK(NameOverflow(options_, transaction.UpdateOnes(options_.collection, changes.updates()).status()));
  return counted;
}

}  // namespace braid
