#include "braid/counters.h"

#include <algorithm>
#include <deque>
#include <map>

#include "base/strings.h"
#include "client/command.h"
#include "client/fields.h"
#include "client/handles.h"

namespace braid {
namespace {

using client::Bson;

constexpr const char* kSets = "counter_sets";
constexpr size_t kCountedMax = 1'000'000;  // entities remembered as counted

std::string IdOf(std::string_view entity, uint32_t shard) {
  return entity.empty() ? StrCat(shard) : StrCat(entity, ":", shard);
}

std::string_view EntityOf(std::string_view id) {
  const size_t colon = id.rfind(':');
  return colon == std::string_view::npos ? std::string_view() : id.substr(0, colon);
}

Status CheckName(std::string_view entity) {
  if (entity.find(':') == std::string_view::npos && entity.find('\0') == std::string_view::npos) return {};
  return Status(Code::kBadValue, StrCat("the counted entity '", entity, "' has a ':' in its name"));
}

// The changes of one Add: filters and updates stay alive until the command is sent.
class Changes {
 public:
  explicit Changes(const std::vector<std::string>& fields) : fields_(fields) {}

  void Add(const std::string& id, const CounterValues& by) {
    Bson deltas;
    for (size_t i = 0; i < fields_.size(); ++i) {
      if (by[i] != 0) deltas.Integer(fields_[i].c_str(), by[i]);
    }
    if (bson_empty(deltas.get())) return;
    Bson& filter = parts_.emplace_back();
    filter.Text("_id", id);
    Bson& change = parts_.emplace_back();
    change.Document("$inc", deltas);
    updates_.push_back({.filter = filter.get(), .change = change.get(), .upsert = true});
  }
  std::span<const Transaction::Update> updates() const { return updates_; }

 private:
  const std::vector<std::string>& fields_;
  std::deque<Bson> parts_;
  std::vector<Transaction::Update> updates_;
};

using Merged = std::map<std::string_view, CounterValues>;

Result<Merged> Merge(std::span<const Counters::Increment> increments) {
  Merged merged;
  for (const Counters::Increment& increment : increments) {
    auto [place, is_new] = merged.try_emplace(increment.entity);
    if (is_new) BRAID_CHECK_OK(CheckName(increment.entity));
    for (size_t i = 0; i < kCounterFieldsMax; ++i) place->second[i] += increment.by[i];
  }
  return merged;
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
  if (shard_count < 1 || shard_count > 10'000) {
    return Status(Code::kBadValue, StrCat("logical-shard-count is ", shard_count, "; it must be 1 to 10000"));
  }
  return {};
}

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
  return std::unique_ptr<Counters>(new Counters(options, stored));
}

Status Counters::Add(Transaction& transaction, uint32_t shard, std::span<const Increment> increments) {
  BRAID_TRY(const Merged merged, Merge(increments));
  Changes changes(options_.fields);
  for (const auto& [entity, by] : merged) changes.Add(IdOf(entity, shard), by);
  return transaction.UpdateOnes(options_.collection, changes.updates()).status();
}

Result<int64_t> Counters::AddCountingNew(Transaction& transaction, uint32_t shard,
                                         std::span<const Increment> increments) {
  BRAID_TRY(const Merged merged, Merge(increments));
  std::vector<std::string> unknown;
  {
    const std::lock_guard lock(mu_);
    for (const auto& [entity, by] : merged) {
      if (!counted_.contains(std::string(entity))) unknown.push_back(IdOf(entity, 0));
    }
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
  {
    // Only what the store has is remembered: this transaction may still fail.
    const std::lock_guard lock(mu_);
    if (counted_.size() + found.size() > kCountedMax) counted_.clear();
    counted_.merge(found);
  }
  Changes changes(options_.fields);
  std::deque<Bson> documents;
  std::vector<const bson_t*> inserts;
  for (const auto& [entity, by] : merged) {
    if (!fresh.contains(std::string(entity))) {
      changes.Add(IdOf(entity, shard), by);
      continue;
    }
    Bson& document = documents.emplace_back();
    document.Text("_id", IdOf(entity, 0));
    for (size_t i = 0; i < options_.fields.size(); ++i) document.Integer(options_.fields[i].c_str(), by[i]);
    inserts.push_back(document.get());
  }
  BRAID_CHECK_OK(transaction.Insert(options_.collection, inserts));
  BRAID_CHECK_OK(transaction.UpdateOnes(options_.collection, changes.updates()));
  return static_cast<int64_t>(inserts.size());
}

void Counters::AddTo(const bson_t& document, CounterValues& sums) const {
  for (size_t i = 0; i < options_.fields.size(); ++i) {
    sums[i] += client::IntegerOf(&document, options_.fields[i].c_str());
  }
}

Result<CounterValues> Counters::Sum(Transaction& transaction, std::string_view entity) const {
  uint32_t shards = shard_count_;  // others may have raised it since
  const std::string name[] = {options_.collection};
  BRAID_CHECK_OK(transaction.FindIds(kSets, name, [&](const bson_t& document) {
    shards = std::max(shards, static_cast<uint32_t>(client::IntegerOf(&document, "shards")));
    return Status();
  }));
  std::vector<std::string> ids;
  ids.reserve(shards);
  for (uint32_t shard = 0; shard < shards; ++shard) ids.push_back(IdOf(entity, shard));
  CounterValues sums{};
  BRAID_CHECK_OK(transaction.FindIds(options_.collection, ids, [&](const bson_t& document) {
    AddTo(document, sums);
    return Status();
  }));
  return sums;
}

Status Counters::ForEach(Transaction& transaction, const std::function<Status(const Entity&)>& each) const {
  const Bson all;
  Bson by_id;
  by_id.Integer("_id", 1);
  Entity entity;
  bool started = false;
  BRAID_CHECK_OK(
      transaction.Find(options_.collection, all.get(), {.sort = by_id.get()}, [&](const bson_t& document) -> Status {
        const std::string_view id = client::TextOf(&document, "_id");
        const std::string_view name = EntityOf(id);
        if (name.empty()) return {};  // of the whole
        if (!started || name != entity.name) {
          if (started) BRAID_CHECK_OK(each(entity));
          entity = Entity{.name = std::string(name)};
          started = true;
        }
        if (id.ends_with(":0")) entity.counted = true;
        AddTo(document, entity.sums);
        return {};
      }));
  return started ? each(entity) : Status();
}

Status Counters::Correct(Transaction& transaction, std::string_view entity, const CounterValues& sums) {
  BRAID_TRY(const CounterValues present, Sum(transaction, entity));
  Increment difference{.entity = std::string(entity)};
  for (size_t i = 0; i < kCounterFieldsMax; ++i) difference.by[i] = sums[i] - present[i];
  return Add(transaction, 0, {&difference, 1});
}

}  // namespace braid
