// Reading at an epoch: the tip or an older one, its entries and windows, all in one snapshot.
#include <algorithm>

#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"
#include "patterns/timeline/state.h"
#include "patterns/timeline/sums.h"

namespace braid {
namespace {

using client::Bson;

// {_id: {$gte: first, $lte: last}}; one of them alone is one shard's.
void AppendIdRange(int64_t first, int64_t last, Bson& filter) {
  if (first == last) {
    filter.Integer("_id", first);
    return;
  }
  Bson range;
  filter.Document("_id", range.Integer("$gte", first).Integer("$lte", last));
}

Status MissingEntry(const TimelineOptions& options, const std::string& list, int64_t position) {
  return Status(Code::kRecordDamaged, StrCat(options.database, ".", list, ": entry ", position, " is missing"));
}

// The epoch with this hash that is in the chain.
Result<EpochState> StateAt(Transaction& transaction, const TimelineOptions& options, const std::string& hash) {
  BRAID_TRY(timeline::Head head, timeline::ReadHead(transaction, options));
  if (hash.empty() || hash == head.tip.hash) return std::move(head.tip);
  Bson filter;
  filter.Text("hash", hash);
  EpochState found;
  BRAID_CHECK_OK(transaction.Find(timeline::EpochsOf(options), filter.get(), [&](const bson_t& record) {
    found = timeline::StateOfRecord(record);
    return Status();
  }));
  if (!found.empty() && found.number <= head.tip.number) return found;
  const std::string tip =
      head.tip.empty() ? "it is empty" : StrCat("its tip is ", head.tip.number, ", ", head.tip.hash);
  return Status(Code::kTimelineReorganised, StrCat("no epoch of the chain has the hash ", hash,
                                                   ": it was reorganised away, or never stored; ", tip));
}

}  // namespace

Status Timeline::Read(const std::string& at, const OnSnapshot& body) {
  const TransactionOptions how{.database = options_.database, .stop = options_.stop};
  return RunTransaction(clients_, how, [&](Transaction& transaction) -> Status {
    BRAID_TRY(const EpochState state, StateAt(transaction, options_, at));
    return body(transaction, state);
  });
}

Result<EpochState> Timeline::Tip() {
  EpochState tip;
  BRAID_CHECK_OK(Read("", [&](Transaction&, const EpochState& at) {
    tip = at;
    return Status();
  }));
  return tip;
}

void Timeline::AppendVisible(const EpochState& at, Document& filter) { filter.Append("epoch", {{"$lte", at.number}}); }

Result<EpochState> Timeline::StateOf(Transaction& transaction, const EpochState& at, int64_t number) const {
  if (number == at.number) return at;
  if (number > at.number || number < 0) return EpochState();
  return timeline::ReadRecord(transaction, options_, number);
}

Status Timeline::ForEachEpochDown(Transaction& transaction, int64_t first, int64_t count,
                                  const std::function<Status(const EpochState&)>& each) const {
  if (count <= 0 || first < 0) return {};
  Bson filter;
  AppendIdRange(first - std::min(first, count - 1), first, filter);
  Bson newest_first;
  newest_first.Integer("_id", -1);
  return transaction.Find(timeline::EpochsOf(options_), filter.get(), {.sort = newest_first.get()},
                          [&](const bson_t& record) { return each(timeline::StateOfRecord(record)); });
}

Status Timeline::ForEachEntry(Transaction& transaction, const std::string& list, int64_t first, int64_t count,
                              const Transaction::OnDocument& each) const {
  if (count <= 0) return {};
  Bson filter;
  AppendIdRange(first, first + count - 1, filter);
  Bson in_order;
  in_order.Integer("_id", 1);
  int64_t next = first;
  BRAID_CHECK_OK(transaction.Find(list, filter.get(), {.sort = in_order.get()}, [&](const Document& entry) -> Status {
    if (client::IntegerOf(entry.get(), "_id") != next) return MissingEntry(options_, list, next);
    ++next;
    return each(entry);
  }));
  return next == first + count ? Status() : MissingEntry(options_, list, next);
}

Result<Timeline::Window> Timeline::NewestOf(Transaction& transaction, const EpochState& at, const std::string& list,
                                            int64_t entries_max) const {
  const int64_t length = at.LengthOf(list);
  Window window;
  window.entries = std::clamp<int64_t>(entries_max, 0, length);
  window.first = length - window.entries;
  std::map<std::string, std::string> before;  // the sums of all entries before the window
  if (window.first > 0) {
    BRAID_CHECK_OK(ForEachEntry(transaction, list, window.first - 1, 1, [&](const bson_t& entry) {
      bson_iter_t sums;
      bson_iter_t sum;
      if (!bson_iter_init_find(&sums, &entry, "sums") || !bson_iter_recurse(&sums, &sum)) return Status();
      while (bson_iter_next(&sum)) {
        if (BSON_ITER_HOLDS_UTF8(&sum)) before[bson_iter_key(&sum)] = bson_iter_utf8(&sum, nullptr);
      }
      return Status();
    }));
  }
  const std::string prefix = list + ".";
  for (auto sum = at.sums.lower_bound(prefix); sum != at.sums.end() && sum->first.starts_with(prefix); ++sum) {
    const std::string name = sum->first.substr(prefix.size());
    const auto older = before.find(name);
    auto inside = timeline::SubtractDecimals(sum->second, older == before.end() ? "0" : older->second);
    if (!inside) {
      return Status(Code::kRecordDamaged,
                    StrCat(options_.database, ".", list, ": the sum '", name, "' is not a number"));
    }
    window.sums[name] = *std::move(inside);
  }
  return window;
}

}  // namespace braid
