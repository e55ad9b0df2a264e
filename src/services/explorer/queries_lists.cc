// Queries that give lists, page by page. A page starts at the position behind that of the last row of the page before,
// and the positions of rows do not change while the chain grows: no row is given twice, none is left out. Each reads as
// many index entries as it has rows, and one more to know whether there is a next page, however long the list is.
#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "client/fields.h"
#include "services/explorer/collections.h"
#include "services/explorer/explorer.h"
#include "services/explorer/queries.h"

namespace braid::explorer {
namespace {

using client::Bson;
using client::BsonPtr;

Status CheckPage(const PageRequest& page, std::string& at) {
  BRAID_CHECK_OK(CheckPageLimit(page.limit));
  BRAID_TRY(at, OptionalHashArgument("the pivot hash", page.at));
  return {};
}

// The rows of one page, made from one more than asked for.
class PageRows {
 public:
  PageRows(int64_t limit, Page& page) : limit_(limit), page_(page) {}
  void Add(BsonPtr row, int64_t position) {
    more_ = static_cast<int64_t>(page_.rows.size()) >= limit_;
    if (more_) return;
    page_.rows.push_back(std::move(row));
    last_ = position;
  }
  void End(PagedList list) {
    if (more_) page_.next = ToCursor(list, last_);
  }

 private:
  const int64_t limit_;
  Page& page_;
  int64_t last_ = 0;  // the position of the last row
  bool more_ = false;
};

// The entries of an account or a miner by _id, newest first. All are on one shard.
Status ForEachOfOwner(braid::Transaction& transaction, const EpochState& at, const char* collection,
                      const std::string& owner, int64_t below, int64_t limit,
                      const std::function<void(const bson_t&, int64_t score)>& each) {
  Bson range;
  OwnedId{owner, 0}.AppendTo(range.get(), "$gte");
  OwnedId{owner, below}.AppendTo(range.get(), "$lt");
  Bson filter;
  filter.Text("_id.owner", owner).Document("_id", range);
  Timeline::AppendVisible(at, filter);
  Bson by_id;
  by_id.Integer("_id", 1);
  Bson newest_first;
  newest_first.Integer("_id", -1);
  return transaction.Find(collection, filter.get(), {.sort = newest_first.get(), .limit = limit, .hint = by_id.get()},
                          [&](const bson_t& entry) {
                            if (const auto id = OwnedIdOf(entry)) each(entry, id->score);
                            return Status();
                          });
}

// The transactions of the chain at an epoch, each counted once: the score that the next one will have.
int64_t TransactionsAt(const EpochState& at) {
  const auto sum = at.sums.find(StrCat(kBlocksInOrder, ".", kNewTransactionSum));
  int64_t count = 0;
  if (sum != at.sums.end()) {
    std::from_chars(sum->second.data(), sum->second.data() + sum->second.size(), count);
  }
  return count;
}

}  // namespace

Result<Page> Explorer::BlockTransactions(const std::string& hash, const PageRequest& request) {
  BRAID_TRY(const std::string block, HashArgument("the block hash", hash));
  std::string pivot;
  BRAID_CHECK_OK(CheckPage(request, pivot));
  BRAID_TRY(const std::optional<int64_t> after, ParseCursor(PagedList::kBlockTransactions, request.after));
  constexpr auto kInDocument = static_cast<int64_t>(kRowsInDocument);
  const int64_t first = after ? *after + 1 : 0;
  Page page;
  BRAID_CHECK_OK(timeline_->Read(pivot, [&](braid::Transaction& transaction, const EpochState& at) -> Status {
    page = {.at = {at.number, at.hash}, .found = false};
    Bson known;
    known.Text("_id", block);
    Timeline::AppendVisible(at, known);
    Bson by_id;
    by_id.Integer("_id", 1);
    BRAID_CHECK_OK(transaction.Find(kBlocks, known.get(), {.projection = by_id.get(), .limit = 1, .hint = by_id.get()},
                                    [&](const bson_t&) {
                                      page.found = true;
                                      return Status();
                                    }));
    if (!page.found) return {};
    Bson range;
    range.Text("$gte", RowsId(block, first / kInDocument))
        .Text("$lte", RowsId(block, (first + request.limit) / kInDocument));
    Bson filter;
    filter.Text("block", block).Document("_id", range);
    Timeline::AppendVisible(at, filter);
    PageRows rows(request.limit, page);
    BRAID_CHECK_OK(transaction.Find(kBlockTransactions, filter.get(), {.sort = by_id.get(), .hint = by_id.get()},
                                    [&](const bson_t& document) -> Status {
                                      int64_t position = client::IntegerOf(&document, "first");
                                      for (BsonPtr& row : BlockTransactionAnswers(document)) {
                                        if (position >= first) rows.Add(std::move(row), position);
                                        ++position;
                                      }
                                      return {};
                                    }));
    rows.End(PagedList::kBlockTransactions);
    return {};
  }));
  return page;
}

Result<Page> Explorer::Blocks(const PageRequest& request) {
  std::string pivot;
  BRAID_CHECK_OK(CheckPage(request, pivot));
  BRAID_TRY(const std::optional<int64_t> after, ParseCursor(PagedList::kBlocks, request.after));
  Page page;
  BRAID_CHECK_OK(timeline_->Read(pivot, [&](braid::Transaction& transaction, const EpochState& at) -> Status {
    page = {.at = {at.number, at.hash}};
    const int64_t length = at.LengthOf(kBlocksInOrder);
    const int64_t end = std::min(after.value_or(length), length);
    const int64_t first = std::max<int64_t>(0, end - request.limit);
    BRAID_CHECK_OK(timeline_->ForEachEntry(transaction, kBlocksInOrder, first, end - first, [&](const bson_t& entry) {
      page.rows.push_back(BlockRowAnswer(entry, client::IntegerOf(&entry, "_id")));
      return Status();
    }));
    std::reverse(page.rows.begin(), page.rows.end());
    if (first > 0) page.next = ToCursor(PagedList::kBlocks, first);
    return {};
  }));
  return page;
}

Result<Page> Explorer::AccountTransactions(const std::string& address, const PageRequest& request) {
  BRAID_TRY(const std::string account, AddressArgument("the address", address));
  std::string pivot;
  BRAID_CHECK_OK(CheckPage(request, pivot));
  BRAID_TRY(const std::optional<int64_t> after, ParseCursor(PagedList::kAccountTransactions, request.after));
  Page page;
  BRAID_CHECK_OK(timeline_->Read(pivot, [&](braid::Transaction& transaction, const EpochState& at) -> Status {
    page = {.at = {at.number, at.hash}};
    const int64_t count = TransactionsAt(at);
    PageRows rows(request.limit, page);
    BRAID_CHECK_OK(ForEachOfOwner(
        transaction, at, kAccountTransactions, account, std::min(after.value_or(count), count), request.limit + 1,
        [&](const bson_t& entry, int64_t score) { rows.Add(AccountRowAnswer(entry), score); }));
    rows.End(PagedList::kAccountTransactions);
    return {};
  }));
  return page;
}

Result<Page> Explorer::MinerBlocks(const std::string& address, const PageRequest& request) {
  BRAID_TRY(const std::string miner, AddressArgument("the address", address));
  std::string pivot;
  BRAID_CHECK_OK(CheckPage(request, pivot));
  BRAID_TRY(const std::optional<int64_t> after, ParseCursor(PagedList::kMinerBlocks, request.after));
  Page page;
  BRAID_CHECK_OK(timeline_->Read(pivot, [&](braid::Transaction& transaction, const EpochState& at) -> Status {
    page = {.at = {at.number, at.hash}};
    const int64_t length = at.LengthOf(kBlocksInOrder);
    PageRows rows(request.limit, page);
    BRAID_CHECK_OK(ForEachOfOwner(
        transaction, at, kMinerBlocks, miner, std::min(after.value_or(length), length), request.limit + 1,
        [&](const bson_t& entry, int64_t score) { rows.Add(BlockRowAnswer(entry, score), score); }));
    rows.End(PagedList::kMinerBlocks);
    return {};
  }));
  return page;
}

Result<Page> Explorer::Pivots(const PageRequest& request) {
  std::string pivot;
  BRAID_CHECK_OK(CheckPage(request, pivot));
  BRAID_TRY(const std::optional<int64_t> after, ParseCursor(PagedList::kPivots, request.after));
  Page page;
  BRAID_CHECK_OK(timeline_->Read(pivot, [&](braid::Transaction& transaction, const EpochState& at) -> Status {
    page = {.at = {at.number, at.hash}};
    const int64_t first = std::min(after ? *after - 1 : at.number, at.number);
    if (first < 0) return {};
    PageRows rows(request.limit, page);
    BRAID_CHECK_OK(timeline_->ForEachEpochDown(transaction, first, request.limit + 1, [&](const EpochState& epoch) {
      Bson row;
      row.Integer("epoch", epoch.number).Text("hash", epoch.hash);
      rows.Add(BsonPtr(bson_copy(row.get())), epoch.number);
      return Status();
    }));
    rows.End(PagedList::kPivots);
    return {};
  }));
  return page;
}

Result<Page> Explorer::EpochBlocks(int64_t number, const PageRequest& request) {
  std::string pivot;
  BRAID_CHECK_OK(CheckPage(request, pivot));
  BRAID_TRY(const std::optional<int64_t> after, ParseCursor(PagedList::kEpochBlocks, request.after));
  Page page;
  BRAID_CHECK_OK(timeline_->Read(pivot, [&](braid::Transaction& transaction, const EpochState& at) -> Status {
    page = {.at = {at.number, at.hash}};
    BRAID_TRY(const EpochState epoch, timeline_->StateOf(transaction, at, number));
    page.found = !epoch.empty();
    if (!page.found) return {};
    BRAID_TRY(const EpochState before, timeline_->StateOf(transaction, at, number - 1));
    const int64_t begin = before.LengthOf(kBlocksInOrder);
    const int64_t end = epoch.LengthOf(kBlocksInOrder);
    const int64_t first = std::clamp(after ? *after + 1 : begin, begin, end);
    const int64_t count = std::min(end - first, request.limit);
    BRAID_CHECK_OK(timeline_->ForEachEntry(transaction, kBlocksInOrder, first, count, [&](const bson_t& entry) {
      page.rows.push_back(BlockRowAnswer(entry, client::IntegerOf(&entry, "_id")));
      return Status();
    }));
    if (first + count < end) page.next = ToCursor(PagedList::kEpochBlocks, first + count - 1);
    return {};
  }));
  return page;
}

Result<Page> Explorer::Transactions(const PageRequest& request) {
  std::string pivot;
  BRAID_CHECK_OK(CheckPage(request, pivot));
  BRAID_TRY(const std::optional<int64_t> after, ParseCursor(PagedList::kTransactions, request.after));
  Page page;
  BRAID_CHECK_OK(timeline_->Read(pivot, [&](braid::Transaction& transaction, const EpochState& at) -> Status {
    page = {.at = {at.number, at.hash}};
    const int64_t count = TransactionsAt(at);
    Bson range;
    range.Integer("$lt", std::min(after.value_or(count), count));
    Bson filter;
    filter.Document("score", range);
    Timeline::AppendVisible(at, filter);
    Bson newest_first;
    newest_first.Integer("score", -1);
    Bson by_score;
    by_score.Integer("score", 1);
    PageRows rows(request.limit, page);
    BRAID_CHECK_OK(transaction.Find(kTransactions, filter.get(),
                                    {.sort = newest_first.get(), .limit = request.limit + 1, .hint = by_score.get()},
                                    [&](const bson_t& stored) {
                                      rows.Add(TransactionRowAnswer(stored), client::IntegerOf(&stored, "score"));
                                      return Status();
                                    }));
    rows.End(PagedList::kTransactions);
    return {};
  }));
  return page;
}

Result<Page> Explorer::Miners(const PageRequest& request) {
  std::string pivot;
  BRAID_CHECK_OK(CheckPage(request, pivot));
  BRAID_TRY(const std::string after, ParseAddressCursor(PagedList::kMiners, request.after));
  Page page;
  BRAID_CHECK_OK(timeline_->Read(pivot, [&](braid::Transaction& transaction, const EpochState& at) -> Status {
    page = {.at = {at.number, at.hash}};
    Bson range;
    range.Text("$gt", after);
    Bson filter;
    filter.Document("_id", range);
    Timeline::AppendVisible(at, filter);
    Bson by_id;
    by_id.Integer("_id", 1);
    std::string last;
    BRAID_CHECK_OK(transaction.Find(kMiners, filter.get(),
                                    {.sort = by_id.get(), .limit = request.limit + 1, .hint = by_id.get()},
                                    [&](const bson_t& miner) {
                                      if (static_cast<int64_t>(page.rows.size()) == request.limit) {
                                        page.next = ToAddressCursor(PagedList::kMiners, last);
                                        return Status();
                                      }
                                      last = client::TextOf(&miner, "_id");
                                      page.rows.push_back(MinerRowAnswer(miner));
                                      return Status();
                                    }));
    return {};
  }));
  return page;
}

}  // namespace braid::explorer
