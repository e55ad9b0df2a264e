// Queries with a single result: a block, a transaction, the latest window. Lists are in queries_lists.cc.
#include <algorithm>
#include <charconv>
#include <limits>

#include "base/strings.h"
#include "client/fields.h"
#include "services/explorer/collections.h"
#include "services/explorer/explorer.h"
#include "services/explorer/queries.h"

namespace braid::explorer {
namespace {

using client::Bson;
using client::BsonPtr;

// Timestamps are hexadecimal and of any size; those beyond any real clock are clamped.
int64_t SecondsOf(std::string_view timestamp) {
  if (timestamp.starts_with("0x")) timestamp.remove_prefix(2);
  int64_t seconds = 0;
  const auto [end, error] = std::from_chars(timestamp.data(), timestamp.data() + timestamp.size(), seconds, 16);
  return error == std::errc::result_out_of_range ? std::numeric_limits<int64_t>::max() : seconds;
}

Result<int64_t> IntegerOfSum(const Timeline::Window& window, const char* name) {
  const auto sum = window.sums.find(name);
  if (sum == window.sums.end()) return int64_t{0};
  int64_t value = 0;
  const char* end = sum->second.data() + sum->second.size();
  const auto [stopped, error] = std::from_chars(sum->second.data(), end, value);
  if (error == std::errc() && stopped == end) return value;
  return Status(Code::kOverflow, StrCat("the sum ", name, " of the latest blocks is ", sum->second));
}

// The fields of a late receipt, the newest first.
Status FindReceipts(braid::Transaction& transaction, const EpochState& at, const std::string& hash,
                    std::vector<BsonPtr>& receipts) {
  Bson filter;
  filter.Text("transaction", hash);
  Timeline::AppendVisible(at, filter);
  Bson by_transaction;
  by_transaction.Text("transaction", "hashed");
  BRAID_CHECK_OK(transaction.Find(kReceipts, filter.get(), {.hint = by_transaction.get()}, [&](const bson_t& document) {
    receipts.emplace_back(bson_copy(&document));
    return Status();
  }));
  std::sort(receipts.begin(), receipts.end(), [](const BsonPtr& a, const BsonPtr& b) {
    return client::IntegerOf(a.get(), "epoch") > client::IntegerOf(b.get(), "epoch");
  });
  return {};
}

Status FindVisible(braid::Transaction& transaction, const EpochState& at, const char* collection, const std::string& id,
                   BsonPtr& found) {
  Bson filter;
  filter.Text("_id", id);
  Timeline::AppendVisible(at, filter);
  Bson by_id;
  by_id.Integer("_id", 1);
  return transaction.Find(collection, filter.get(), {.limit = 1, .hint = by_id.get()}, [&](const bson_t& document) {
    found.reset(bson_copy(&document));
    return Status();
  });
}

}  // namespace

Result<Found> Explorer::Block(const std::string& hash, const std::string& at) {
  BRAID_TRY(const std::string id, HashArgument("the block hash", hash));
  BRAID_TRY(const std::string pivot, OptionalHashArgument("the pivot hash", at));
  Found found;
  BRAID_CHECK_OK(timeline_->Read(pivot, [&](braid::Transaction& transaction, const EpochState& state) -> Status {
    found = {.at = {state.number, state.hash}};
    BsonPtr stored;
    BRAID_CHECK_OK(FindVisible(transaction, state, kBlocks, id, stored));
    if (stored != nullptr) found.document = BlockAnswer(*stored);
    return {};
  }));
  return found;
}

Result<Found> Explorer::Transaction(const std::string& hash, const std::string& at) {
  BRAID_TRY(const std::string id, HashArgument("the transaction hash", hash));
  BRAID_TRY(const std::string pivot, OptionalHashArgument("the pivot hash", at));
  Found found;
  BRAID_CHECK_OK(timeline_->Read(pivot, [&](braid::Transaction& transaction, const EpochState& state) -> Status {
    found = {.at = {state.number, state.hash}};
    BsonPtr stored;
    BRAID_CHECK_OK(FindVisible(transaction, state, kTransactions, id, stored));
    if (stored == nullptr) return {};
    std::vector<BsonPtr> receipts;
    BRAID_CHECK_OK(FindReceipts(transaction, state, id, receipts));
    found.document = TransactionAnswer(*stored, receipts);
    return {};
  }));
  return found;
}

Result<Latest> Explorer::LatestBlocks(const std::string& at) {
  BRAID_TRY(const std::string pivot, OptionalHashArgument("the pivot hash", at));
  Latest latest;
  BRAID_CHECK_OK(timeline_->Read(pivot, [&](braid::Transaction& transaction, const EpochState& state) -> Status {
    latest = {.at = {state.number, state.hash}};
    BRAID_TRY(const Timeline::Window window,
              timeline_->NewestOf(transaction, state, kBlocksInOrder, options_.window_blocks));
    latest.blocks = window.entries;
    if (window.entries == 0) return {};
    if (const auto sum = window.sums.find("difficulty"); sum != window.sums.end()) latest.difficulty = sum->second;
    BRAID_TRY(latest.transactions, IntegerOfSum(window, "transactions"));
    int64_t first_s = 0;
    int64_t last_s = 0;
    const auto read_time = [&](int64_t position, int64_t& seconds) {
      return timeline_->ForEachEntry(transaction, kBlocksInOrder, position, 1, [&](const bson_t& entry) {
        seconds = SecondsOf(client::TextOf(&entry, "timestamp"));
        return Status();
      });
    };
    BRAID_CHECK_OK(read_time(window.first, first_s));
    BRAID_CHECK_OK(read_time(window.first + window.entries - 1, last_s));
    latest.seconds = std::max<int64_t>(0, last_s - first_s);
    if (latest.seconds > 0) {
      latest.tps = static_cast<double>(latest.transactions) / static_cast<double>(latest.seconds);
    }
    return {};
  }));
  return latest;
}

Result<ReorganisationPage> Explorer::Reorganisations(int64_t limit, int64_t before_ms) {
  BRAID_CHECK_OK(CheckPageLimit(limit));
  ReorganisationPage page;
  BRAID_TRY(page.at, Tip());
  BRAID_TRY(page.reorganisations, timeline_->Reorganisations(limit, before_ms));
  return page;
}

}  // namespace braid::explorer
