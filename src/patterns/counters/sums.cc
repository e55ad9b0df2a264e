// Sums over the logical shards (A2), and the room that is left in them.
#include <algorithm>
#include <unordered_map>

#include "braid/counters.h"
#include "client/fields.h"
#include "client/handles.h"
#include "patterns/counters/ids.h"

namespace braid {

using client::Bson;
using counters::EntityOf;
using counters::IdOf;
using counters::kRanked;
using counters::kSets;
using counters::kShardsMax;
using counters::kUnranked;
using counters::NoSuchField;
using counters::Overflow;

void Counters::AddTo(const Document& document, WideSums& sums) const {
  for (const std::string& field : options_.fields) sums[field] += client::IntegerOf(document.get(), field.c_str());
}

WideSums Counters::Zeros() const {
  WideSums zeros;
  for (const std::string& field : options_.fields) zeros[field] = 0;
  return zeros;
}

Status Counters::ExpectField(std::string_view field) const {
  const bool known = std::ranges::find(options_.fields, field) != options_.fields.end();
  return known ? Status() : NoSuchField(options_, field);
}

Result<uint32_t> Counters::ReadShardCount(Transaction& transaction) const {
  uint32_t shards = shard_count_;  // others may have raised it since
  const std::string name[] = {options_.collection};
  BRAID_CHECK_OK(transaction.FindIds(kSets, name, [&](const bson_t& document) {
    shards = std::max(shards, static_cast<uint32_t>(client::IntegerOf(&document, "shards")));
    return Status();
  }));
  return shards;
}

Result<CounterValues> Counters::Narrow(std::string_view entity, const WideSums& sums) const {
  CounterValues values;
  for (const auto& [field, sum] : sums) {
    if (sum < INT64_MIN || sum > INT64_MAX) return Overflow(options_, entity, field);
    values[field] = static_cast<int64_t>(sum);
  }
  return values;
}

Result<CounterValues> Counters::Sum(Transaction& transaction, std::string_view entity) const {
  BRAID_TRY(const WideSums sums, SumWide(transaction, entity));
  return Narrow(entity, sums);
}

Result<std::vector<CounterValues>> Counters::Sums(Transaction& transaction,
                                                  std::span<const std::string> entities) const {
  constexpr size_t kIdsMax = 50'000;  // of one command
  BRAID_TRY(const uint32_t shards, ReadShardCount(transaction));
  std::unordered_map<std::string_view, WideSums> sums;
  std::vector<std::string> ids;
  const auto read = [&] {
    const Status status = transaction.FindIds(options_.collection, ids, [&](const Document& document) {
      AddTo(document, sums[EntityOf(client::TextOf(document.get(), "_id"))]);
      return Status();
    });
    ids.clear();
    return status;
  };
  for (const std::string& entity : entities) sums.try_emplace(entity, Zeros());
  for (const std::string& entity : entities) {
    for (uint32_t shard = 0; shard < shards; ++shard) ids.push_back(IdOf(entity, shard));
    if (ids.size() >= kIdsMax) BRAID_CHECK_OK(read());
  }
  BRAID_CHECK_OK(read());
  std::vector<CounterValues> values;
  values.reserve(entities.size());
  for (const std::string& entity : entities) {
    BRAID_TRY(const CounterValues narrow, Narrow(entity, sums[entity]));
    values.push_back(narrow);
  }
  return values;
}

Result<WideSums> Counters::SumWide(Transaction& transaction, std::string_view entity) const {
  BRAID_TRY(const uint32_t shards, ReadShardCount(transaction));
  std::vector<std::string> ids;
  ids.reserve(shards);
  for (uint32_t shard = 0; shard < shards; ++shard) ids.push_back(IdOf(entity, shard));
  WideSums sums = Zeros();
  BRAID_CHECK_OK(transaction.FindIds(options_.collection, ids, [&](const Document& document) {
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
      transaction.Find(options_.collection, all.get(), {.sort = by_id.get()}, [&](const Document& row) -> Status {
        const bson_t& document = row;
        const std::string_view id = client::TextOf(&document, "_id");
        const std::string_view name = EntityOf(id);
        if (name.empty()) return {};  // of the whole
        if (!started || name != entity.name) {
          if (started) BRAID_CHECK_OK(each(entity));
          entity = Entity{.name = std::string(name), .sums = Zeros()};
          started = true;
        }
        if (id.ends_with(":0")) entity.counted = true;
        if (client::BoolOf(&document, kUnranked)) {
          entity.unranked = entity.unranked.value_or(0) - client::IntegerOf(&document, kRanked) +
                            client::IntegerOf(&document, options_.fields[0].c_str());
        }
        AddTo(row, entity.sums);
        return {};
      }));
  return started ? each(entity) : Status();
}

Status Counters::Correct(Transaction& transaction, std::string_view entity, const CounterValues& sums) {
  for (const auto& [field, sum] : sums) BRAID_CHECK_OK(ExpectField(field));
  BRAID_TRY(const WideSums present, SumWide(transaction, entity));
  WideSums missing;
  for (const auto& [field, sum] : present) missing[field] = sums[field] - sum;
  Increment difference{.entity = std::string(entity)};
  BRAID_TRY(difference.by, Narrow(entity, missing));
  return Add(transaction, 0, {&difference, 1});
}

// Amounts up to kShardFree in each shard sum up to at most a tenth of the 64-bit range, because there are at most
// kShardsMax shards. Amounts beyond that are known exactly: only transactions that change the set's document add to
// them, and of two such transactions one is run again and sees what the other has added.
Status Counters::ExpectRoom(Transaction& transaction, uint32_t shard, std::string_view field, int64_t by) const {
  BRAID_CHECK_OK(ExpectField(field));
  const std::string text(field);
  const char* name = text.c_str();
  const std::string own[] = {IdOf("", shard)};
  WideSum after = by;
  BRAID_CHECK_OK(transaction.FindIds(options_.collection, own, [&](const bson_t& document) {
    after += client::IntegerOf(&document, name);
    return Status();
  }));
  if (after <= kShardFree) return {};
  Bson one;
  one.Integer("guarded", 1);
  Bson filter;
  filter.Text("_id", options_.collection);
  Bson change;
  change.Document("$inc", one);
  const Transaction::Update touch{.filter = filter.get(), .change = change.get()};
  BRAID_CHECK_OK(transaction.UpdateOnes(kSets, {&touch, 1}));
  BRAID_TRY(const uint32_t shards, ReadShardCount(transaction));
  std::vector<std::string> ids;
  ids.reserve(shards);
  for (uint32_t i = 0; i < shards; ++i) ids.push_back(IdOf("", i));
  WideSum beyond = by;
  BRAID_CHECK_OK(transaction.FindIds(options_.collection, ids, [&](const bson_t& document) {
    beyond += std::max<WideSum>(0, WideSum{client::IntegerOf(&document, name)} - kShardFree);
    return Status();
  }));
  return beyond <= INT64_MAX - kShardFree * kShardsMax ? Status() : Overflow(options_, "", field);
}

}  // namespace braid
