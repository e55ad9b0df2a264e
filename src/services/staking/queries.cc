#include "services/staking/queries.h"

#include <algorithm>
#include <charconv>

#include "base/assert.h"
#include "base/strings.h"
#include "braid/clock.h"
#include "client/fields.h"
#include "client/handles.h"

namespace braid::staking {
namespace {

// Where a page ended.
struct Position {
  int64_t active_tvl = 0;
  std::string entity;
};

Result<std::optional<Position>> ParsePosition(const std::string& text) {
  if (text.empty()) return std::optional<Position>();
  const size_t colon = text.find(':');
  Position position;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + std::min(colon, text.size()), position.active_tvl);
  if (colon == std::string::npos || error != std::errc() || end != text.data() + colon) {
    return Status(Code::kBadValue, StrCat("'", text, "' is not where a page ended: use the `next` of the page before"));
  }
  position.entity = text.substr(colon + 1);
  return std::optional(position);
}

bool Before(const Ranked& a, const Ranked& b) {
  if (a.sums[kActiveTvl] != b.sums[kActiveTvl]) return a.sums[kActiveTvl] > b.sums[kActiveTvl];
  return a.entity < b.entity;
}

// The best rows behind `start`, one more than `limit`, by reading everything. The worst row of a heap is its top.
Status RankAll(Transaction& transaction, const Counters& set, size_t limit, const std::optional<Ranked>& start,
               std::vector<Ranked>& rows) {
  BRAID_CHECK_OK(set.ForEach(transaction, [&](const Counters::Entity& entity) -> Status {
    Ranked row{.entity = entity.name};
    BRAID_TRY(row.sums, set.Narrow(entity.name, entity.sums));
    if (start && !Before(*start, row)) return {};
    rows.push_back(std::move(row));
    std::push_heap(rows.begin(), rows.end(), Before);
    if (rows.size() > limit + 1) {
      std::pop_heap(rows.begin(), rows.end(), Before);
      rows.pop_back();
    }
    return {};
  }));
  BRAID_ASSERT(rows.size() <= limit + 1);
  std::sort_heap(rows.begin(), rows.end(), Before);
  return {};
}

// The same from the ranking.
Status RankByOrder(Transaction& transaction, const Counters& set, size_t limit, const std::optional<Ranked>& start,
                   std::vector<Ranked>& rows) {
  std::optional<Counters::RankedEntity> after;
  if (start) after = {.entity = start->entity, .value = start->sums[kActiveTvl]};
  BRAID_TRY(const auto ranked, set.Rank(transaction, limit + 1, after));
  std::vector<std::string> names;
  names.reserve(ranked.size());
  for (const Counters::RankedEntity& row : ranked) names.push_back(row.entity);
  BRAID_TRY(const std::vector<CounterValues> sums, set.Sums(transaction, names));
  BRAID_ASSERT(sums.size() == names.size());
  rows.reserve(rows.size() + names.size());
  for (size_t i = 0; i < names.size(); ++i) rows.push_back({.entity = names[i], .sums = sums[i]});
  return {};
}

Result<int64_t> CountAll(Transaction& transaction, const char* collection) {
  const client::Bson all;
  client::Bson id;
  id.Integer("_id", 1);
  int64_t count = 0;
  BRAID_CHECK_OK(transaction.Find(collection, all.get(), {.projection = id.get()}, [&](const bson_t&) {
    ++count;
    return Status();
  }));
  return count;
}

}  // namespace

Result<Overall> GetOverallStats(Clients& clients, const Tables& tables) {
  Overall overall;
  BRAID_CHECK_OK(RunTransaction(clients, {.database = tables.database}, [&](Transaction& transaction) -> Status {
    BRAID_TRY(overall.sums, tables.overall->Sum(transaction, ""));
    BRAID_TRY(overall.pending_events, CountAll(transaction, kPending));
    BRAID_TRY(overall.unprocessable_messages, CountAll(transaction, kUnprocessable));
    BRAID_TRY(overall.conflicting_events, CountAll(transaction, kConflicting));
    return {};
  }));
  return overall;
}

Result<CounterValues> GetStats(Clients& clients, const Tables& tables, const Counters& set, const std::string& entity) {
  CounterValues sums;
  BRAID_CHECK_OK(RunTransaction(clients, {.database = tables.database}, [&](Transaction& transaction) -> Status {
    BRAID_TRY(sums, set.Sum(transaction, entity));
    return {};
  }));
  return sums;
}

Status CheckRankCursor(const std::string& after) { return ParsePosition(after).status(); }

Result<Page> Rank(Clients& clients, const Tables& tables, const Counters& set, size_t limit, const std::string& after) {
  if (limit < 1 || limit > 10'000) return Status(Code::kBadValue, "a page has 1 to 10000 rows");
  BRAID_TRY(const std::optional<Position> position, ParsePosition(after));
  std::optional<Ranked> start;
  if (position) start = {.entity = position->entity, .sums = {{kActiveTvl, position->active_tvl}}};
  Page page;
  // One row more than asked for tells whether there is a next page.
  BRAID_CHECK_OK(RunTransaction(clients, {.database = tables.database}, [&](Transaction& transaction) {
    page.rows.clear();
    return (set.ranked() ? RankByOrder : RankAll)(transaction, set, limit, start, page.rows);
  }));
  if (page.rows.size() > limit) {
    page.rows.pop_back();
    page.next = StrCat(page.rows.back().sums[kActiveTvl], ":", page.rows.back().entity);
  }
  return page;
}

Result<std::vector<ShardInfo>> DescribeShards(Clients& clients, const Tables& tables) {
  std::vector<ShardInfo> shards(tables.overall->shard_count());
  std::vector<std::string> ids;
  std::vector<std::string> leases;
  for (uint32_t i = 0; i < shards.size(); ++i) {
    shards[i].shard = StrCat(i);
    ids.push_back(shards[i].shard);
    leases.push_back(StrCat(kLeaseGroup, ":", i));
  }
  const int64_t now = Clock::System().NowMillis();
  const auto number = [&](std::string_view text) { return static_cast<size_t>(std::stoul(std::string(text))); };
  BRAID_CHECK_OK(RunTransaction(clients, {.database = tables.database}, [&](Transaction& transaction) -> Status {
    BRAID_CHECK_OK(transaction.FindIds(tables.overall->options().collection, ids, [&](const bson_t& document) {
      ShardInfo& shard = shards[number(client::TextOf(&document, "_id"))];
      for (const std::string& field : tables.overall->options().fields) {
        shard.sums[field] = client::IntegerOf(&document, field.c_str());
      }
      return Status();
    }));
    return transaction.FindIds("counter_leases", leases, [&](const bson_t& document) {
      const int64_t left = client::DateOf(&document, "expires_at").value_or(0) - now;
      if (left <= 0) return Status();
      ShardInfo& shard =
          shards[number(client::TextOf(&document, "_id").substr(std::string_view(kLeaseGroup).size() + 1))];
      shard.owner = client::TextOf(&document, "owner");
      shard.owned_ms = left;
      return Status();
    });
  }));
  return shards;
}

}  // namespace braid::staking
