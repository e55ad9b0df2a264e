#include "services/staking/queries.h"

#include <algorithm>
#include <charconv>

#include "base/strings.h"
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
    return {};
  }));
  return overall;
}

Result<CounterValues> GetStats(Clients& clients, const Tables& tables, const Counters& set, const std::string& entity) {
  CounterValues sums{};
  BRAID_CHECK_OK(RunTransaction(clients, {.database = tables.database}, [&](Transaction& transaction) -> Status {
    BRAID_TRY(sums, set.Sum(transaction, entity));
    return {};
  }));
  return sums;
}

Result<Page> Rank(Clients& clients, const Tables& tables, const Counters& set, size_t limit, const std::string& after) {
  if (limit < 1 || limit > 10'000) return Status(Code::kBadValue, "a page has 1 to 10000 rows");
  BRAID_TRY(const std::optional<Position> position, ParsePosition(after));
  Ranked start;
  if (position) start = {.entity = position->entity, .sums = {position->active_tvl}};
  Page page;
  // One row more than asked for tells whether there is a next page. The worst row of a heap is its top.
  BRAID_CHECK_OK(RunTransaction(clients, {.database = tables.database}, [&](Transaction& transaction) {
    page.rows.clear();
    return set.ForEach(transaction, [&](const Counters::Entity& entity) {
      Ranked row{.entity = entity.name, .sums = entity.sums};
      if (position && !Before(start, row)) return Status();
      page.rows.push_back(std::move(row));
      std::push_heap(page.rows.begin(), page.rows.end(), Before);
      if (page.rows.size() > limit + 1) {
        std::pop_heap(page.rows.begin(), page.rows.end(), Before);
        page.rows.pop_back();
      }
      return Status();
    });
  }));
  std::sort_heap(page.rows.begin(), page.rows.end(), Before);
  if (page.rows.size() > limit) {
    page.rows.pop_back();
    page.next = StrCat(page.rows.back().sums[kActiveTvl], ":", page.rows.back().entity);
  }
  return page;
}

}  // namespace braid::staking
