// The maintained order of a set's entities by its first field, so that a page costs the same whatever their number
// (A8).
//
// The ranking has one document per entity: {_id: entity, FIELD: the part of the sum that it knows}. Writers of hot
// shards must not conflict there, so they only mark what they change: a shard's document has `ranked`, its part in the
// ranking, and `unranked: true` while its value differs from it. Invariant: an entity's document in the ranking is the
// sum of `ranked` over its shards. UpdateRanking() brings marked documents in; until then readers add the differences
// themselves.
#include <algorithm>
#include <deque>
#include <map>
#include <unordered_set>

#include "braid/counters.h"
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
using counters::kUnranked;

constexpr int64_t kUpdatePage = 2000;
constexpr int kTriesMax = 5;        // attempts for a page whose documents others are writing
constexpr size_t kIdsMax = 50'000;  // of one command

Bson& AppendIndex(Bson& indexes, const char* position, const Bson& keys, const char* name, bool sparse) {
  Bson index;
  index.Document("key", keys).Text("name", name);
  if (sparse) index.Bool("sparse", true);
  return indexes.Document(position, index);
}

Status CreateIndex(mongoc_client_t* client, const CounterOptions& options, const std::string& collection,
                   const Bson& keys, const std::string& name, bool sparse) {
  Bson indexes;
  AppendIndex(indexes, "0", keys, name.c_str(), sparse);
  Bson command;
  command.Text("createIndexes", collection).Array("indexes", indexes);
  return client::RunCommand(client, options.database.c_str(), command.get()).status();
}

bool Before(const Counters::RankedEntity& a, const Counters::RankedEntity& b) {
  return a.value != b.value ? a.value > b.value : a.entity < b.entity;
}

// Changes to documents by _id, alive until they are sent.
class UpdatesById {
 public:
  void Add(const std::string& id, const char* how, const Bson& fields, bool upsert) {
    const Bson& filter = parts_.emplace_back().Text("_id", id);
    const Bson& change = parts_.emplace_back().Document(how, fields);
    updates_.push_back({.filter = filter.get(), .change = change.get(), .upsert = upsert});
  }
  // Says that the ranking knows the document's value.
  void Settle(const std::string& id, int64_t value) {
    Bson ranked;
    ranked.Integer(kRanked, value);
    Bson unranked;
    unranked.Bool(kUnranked, true);
    const Bson& filter = parts_.emplace_back().Text("_id", id);
    const Bson& change = parts_.emplace_back().Document("$set", ranked).Document("$unset", unranked);
    updates_.push_back({.filter = filter.get(), .change = change.get()});
  }
  Status Send(Transaction& transaction, const std::string& collection) const {
    return transaction.UpdateOnes(collection, updates_).status();
  }

 private:
  std::deque<Bson> parts_;
  std::vector<Transaction::Update> updates_;
};

}  // namespace

// A set of an older program has no marks: all its documents are marked before the ranking counts as kept.
Status Counters::EnsureRanking(Clients& clients, const CounterOptions& options) {
  const Client client = clients.Acquire();
  const std::string& field = options.fields[0];
  Bson order;
  order.Integer(field.c_str(), -1).Integer("_id", 1);
  BRAID_CHECK_OK(CreateIndex(client.get(), options, options.ranking, order, StrCat(field, "_-1__id_1"), false));
  Bson marks;
  marks.Integer(kUnranked, 1);
  BRAID_CHECK_OK(CreateIndex(client.get(), options, options.collection, marks, StrCat(kUnranked, "_1"), true));
  BRAID_TRY(const bool kept, IsRanked(clients, options));
  if (kept) return {};
  bson_error_t error{};
  Bson exists;
  exists.Bool("$exists", false);
  Bson unknown;
  unknown.Document(kRanked, exists);
  Bson mark;
  mark.Bool(kUnranked, true);
  Bson change;
  change.Document("$set", mark);
  const client::CollectionPtr set = client::CollectionOf(client.get(), options.database, options.collection);
  if (!mongoc_collection_update_many(set.get(), unknown.get(), change.get(), nullptr, nullptr, &error)) {
    return client::FromError(error);
  }
  Bson filter;
  filter.Text("_id", options.collection);
  Bson name;
  name.Text("ranking", options.ranking);
  Bson done;
  done.Document("$set", name);
  const client::CollectionPtr sets = client::CollectionOf(client.get(), options.database, kSets);
  const bool ok = mongoc_collection_update_one(sets.get(), filter.get(), done.get(), nullptr, nullptr, &error);
  return ok ? Status() : client::FromError(error);
}

Result<bool> Counters::IsRanked(Clients& clients, const CounterOptions& options) {
  bool ranked = false;
  const std::string name[] = {options.collection};
  BRAID_CHECK_OK(RunTransaction(clients, {.database = options.database}, [&](Transaction& transaction) {
    ranked = false;
    return transaction.FindIds(kSets, name, [&](const bson_t& document) {
      ranked = !options.ranking.empty() && client::TextOf(&document, "ranking") == options.ranking;
      return Status();
    });
  }));
  return ranked;
}

Result<std::map<std::string, WideSum>> Counters::Unranked(Transaction& transaction) const {
  std::map<std::string, WideSum> differences;
  Bson marked;
  marked.Bool(kUnranked, true);
  BRAID_CHECK_OK(transaction.Find(options_.collection, marked.get(), [&](const bson_t& document) {
    const std::string_view entity = EntityOf(client::TextOf(&document, "_id"));
    if (entity.empty()) return Status();
    differences[std::string(entity)] +=
        WideSum{client::IntegerOf(&document, options_.fields[0].c_str())} - client::IntegerOf(&document, kRanked);
    return Status();
  }));
  return differences;
}

// Rows of the ranking behind `after`, at most `limit`. Two walks along the index, since one filter for both would have
// to be sorted.
Status Counters::ReadRanking(Transaction& transaction, const std::optional<RankedEntity>& after, size_t limit,
                             std::vector<RankedEntity>& rows) const {
  const char* field = options_.fields[0].c_str();
  const auto read = [&](const Bson& filter, size_t count) {
    Bson order;
    order.Integer(field, -1).Integer("_id", 1);
    const Transaction::FindOptions how{.sort = order.get(), .limit = static_cast<int64_t>(count)};
    return transaction.Find(options_.ranking, filter.get(), how, [&](const bson_t& document) {
      rows.push_back(
          {.entity = std::string(client::TextOf(&document, "_id")), .value = client::IntegerOf(&document, field)});
      return Status();
    });
  };
  const size_t before = rows.size();
  Bson rest;
  if (after) {
    Bson behind;
    behind.Text("$gt", after->entity);
    Bson equal;
    equal.Integer(field, after->value).Document("_id", behind);
    BRAID_CHECK_OK(read(equal, limit));
    if (rows.size() - before >= limit) return {};
    Bson less;
    less.Integer("$lt", after->value);
    rest.Document(field, less);
  }
  return read(rest, limit - (rows.size() - before));
}

Result<std::vector<Counters::RankedEntity>> Counters::Rank(Transaction& transaction, size_t limit,
                                                           const std::optional<RankedEntity>& after) const {
  BRAID_TRY(const auto differences, Unranked(transaction));
  std::vector<RankedEntity> rows;
  std::optional<RankedEntity> last = after;
  while (rows.size() < limit) {
    std::vector<RankedEntity> next;
    BRAID_CHECK_OK(ReadRanking(transaction, last, limit, next));
    if (next.empty()) break;
    last = next.back();
    std::erase_if(next, [&](const RankedEntity& row) { return differences.contains(row.entity); });
    std::ranges::move(next, std::back_inserter(rows));
  }
  // Entities that have changed since are placed by their exact sums.
  std::vector<std::string> changed;
  changed.reserve(differences.size());
  for (const auto& [entity, difference] : differences) changed.push_back(entity);
  std::map<std::string, WideSum> values = differences;
  for (size_t begin = 0; begin < changed.size(); begin += kIdsMax) {
    const auto ids = std::span(changed).subspan(begin, std::min(kIdsMax, changed.size() - begin));
    BRAID_CHECK_OK(transaction.FindIds(options_.ranking, ids, [&](const bson_t& document) {
      values[std::string(client::TextOf(&document, "_id"))] += client::IntegerOf(&document, options_.fields[0].c_str());
      return Status();
    }));
  }
  for (const auto& [entity, value] : values) {
    RankedEntity row{.entity = entity};
    BRAID_TRY(const CounterValues narrow, Narrow(entity, {{options_.fields[0], value}}));
    row.value = narrow[options_.fields[0]];
    if (!after || Before(*after, row)) rows.push_back(std::move(row));
  }
  std::ranges::sort(rows, Before);
  if (rows.size() > limit) rows.resize(limit);
  return rows;
}

Status Counters::UpdateRanking(Clients& clients, const std::atomic<bool>* stop) {
  if (options_.ranking.empty()) return {};
  const char* field = options_.fields[0].c_str();
  Bson marked;
  marked.Bool(kUnranked, true);
  bool more = true;
  while (more && (stop == nullptr || !stop->load())) {
    int tries = 0;
    const Status status =
        RunTransaction(clients, {.database = options_.database, .stop = stop}, [&](Transaction& transaction) -> Status {
          if (++tries > kTriesMax) return Status(Code::kLockTimeout, "others are writing");
          std::map<std::string, int64_t> differences;
          UpdatesById settled;
          int64_t count = 0;
          BRAID_CHECK_OK(
              transaction.Find(options_.collection, marked.get(), {.limit = kUpdatePage}, [&](const bson_t& document) {
                const std::string id(client::TextOf(&document, "_id"));
                const int64_t value = client::IntegerOf(&document, field);
                const std::string_view entity = EntityOf(id);
                if (!entity.empty()) {
                  differences[std::string(entity)] += value - client::IntegerOf(&document, kRanked);
                }
                settled.Settle(id, value);
                ++count;
                return Status();
              }));
          more = count == kUpdatePage;
          UpdatesById changes;
          for (const auto& [entity, difference] : differences) {
            Bson by;
            by.Integer(field, difference);
            changes.Add(entity, "$inc", by, true);
          }
          BRAID_CHECK_OK(changes.Send(transaction, options_.ranking));
          return settled.Send(transaction, options_.collection);
        });
    // The remaining documents stay marked: readers add the differences themselves, and the next call brings them in.
    if (status.code() == Code::kLockTimeout) return {};
    BRAID_CHECK_OK(status);
  }
  return {};
}

Status Counters::RepairRanking(Transaction& transaction, const std::string& entity) {
  const char* field = options_.fields[0].c_str();
  Bson range;
  range.Text("$gt", StrCat(entity, ":")).Text("$lt", StrCat(entity, ";"));  // ';' comes after ':'
  Bson filter;
  filter.Document("_id", range);
  UpdatesById settled;
  WideSums sums;
  int64_t shards = 0;
  BRAID_CHECK_OK(transaction.Find(options_.collection, filter.get(), [&](const bson_t& document) {
    settled.Settle(std::string(client::TextOf(&document, "_id")), client::IntegerOf(&document, field));
    sums[field] += client::IntegerOf(&document, field);
    ++shards;
    return Status();
  }));
  Bson own;
  own.Text("_id", entity);
  if (shards == 0) return transaction.Remove(options_.ranking, own.get());
  BRAID_TRY(const CounterValues values, Narrow(entity, sums));
  Bson value;
  value.Integer(field, values[field]);
  UpdatesById place;
  place.Add(entity, "$set", value, true);
  BRAID_CHECK_OK(place.Send(transaction, options_.ranking));
  return settled.Send(transaction, options_.collection);
}

Status Counters::ForEachRanked(Transaction& transaction, const std::function<Status(const RankedEntity&)>& each) const {
  const Bson all;
  return transaction.Find(options_.ranking, all.get(), [&](const bson_t& document) {
    return each({.entity = std::string(client::TextOf(&document, "_id")),
                 .value = client::IntegerOf(&document, options_.fields[0].c_str())});
  });
}

}  // namespace braid
