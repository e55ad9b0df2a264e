// The ten queries: a reader that knows the chain asks them, by turns, and looks whether the answer can be right.
#include <algorithm>
#include <chrono>

#include "base/strings.h"
#include "bench/explorer_runs.h"

namespace braid::bench {
namespace {

constexpr uint64_t kRoundsToWarmUp = 100;
constexpr uint64_t kLongAccounts = 8;

// Each page says where the next one begins; walks on until so many rows are behind.
template <typename ReadPage>
Result<std::string> WalkTo(uint64_t rows, const ReadPage& read) {
  explorer::PageRequest request;
  while (rows > 0) {
    request.limit = static_cast<int64_t>(std::min<uint64_t>(rows, explorer::kRowsMax));
    BRAID_TRY(const explorer::Page page, read(request));
    rows -= std::min<uint64_t>(rows, page.rows.size());
    if (page.next.empty()) break;
    request.after = page.next;
  }
  return request.after;
}

template <typename ReadPage>
Result<uint64_t> CountRows(const ReadPage& read) {
  explorer::PageRequest request{.limit = explorer::kRowsMax};
  uint64_t rows = 0;
  do {
    BRAID_TRY(const explorer::Page page, read(request));
    rows += page.rows.size();
    request.after = page.next;
  } while (!request.after.empty());
  return rows;
}

template <typename ReadPage>
Result<std::string> FindMiddle(const ReadPage& read) {
  BRAID_TRY(const uint64_t rows, CountRows(read));
  return WalkTo(rows / 2, read);
}

}  // namespace

Status ExplorerReader::FindMiddles() {
  BRAID_TRY(middle_of_blocks_, FindMiddle([&](const auto& request) { return explorer_.Blocks(request); }));
  middles_of_accounts_.clear();
  for (uint64_t i = 0; i < kLongAccounts; ++i) {
    const std::string account = chain_.EarlyAccount(i);
    BRAID_TRY(std::string middle,
              FindMiddle([&](const auto& request) { return explorer_.AccountTransactions(account, request); }));
    middles_of_accounts_.push_back(std::move(middle));
  }
  return {};
}

Status ExplorerReader::Ask(ExplorerQuery query, uint64_t epochs) {
  const auto missing = [&](const std::string& what) {
    return Status(Code::kInternalError, StrCat("query '", NameOf(query), "': no answer for ", what));
  };
  if (query == ExplorerQuery::kBlock) {
    const std::string hash = chain_.BlockHash(random_.Below(epochs * chain_.options().epoch_blocks));
    BRAID_TRY(const explorer::Found found, explorer_.Block(hash, ""));
    return found.document != nullptr ? Status() : missing(hash);
  }
  if (query == ExplorerQuery::kTransaction) {
    const std::string hash = chain_.TransactionHash(random_.Below(epochs * chain_.options().epoch_transactions));
    BRAID_TRY(const explorer::Found found, explorer_.Transaction(hash, ""));
    return found.document != nullptr ? Status() : missing(hash);
  }
  if (query == ExplorerQuery::kLatest) {
    BRAID_TRY(const explorer::Latest latest, explorer_.LatestBlocks(""));
    return latest.blocks > 0 ? Status() : missing("the latest blocks");
  }
  return AskForPage(query, epochs);
}

Status ExplorerReader::AskForPage(ExplorerQuery query, uint64_t epochs) {
  const uint64_t epoch = random_.Below(epochs);
  const uint64_t block = epoch * chain_.options().epoch_blocks + random_.Below(chain_.options().epoch_blocks);
  const uint64_t transaction =
      epoch * chain_.options().epoch_transactions + random_.Below(chain_.options().epoch_transactions);
  explorer::PageRequest request{.limit = kExplorerPage};
  const auto read = [&]() -> Result<explorer::Page> {
    switch (query) {
      case ExplorerQuery::kBlockTransactions: return explorer_.BlockTransactions(chain_.BlockHash(block), request);
      case ExplorerQuery::kAccount: return explorer_.AccountTransactions(chain_.Sender(transaction), request);
      case ExplorerQuery::kMiner: return explorer_.MinerBlocks(chain_.Miner(block), request);
      case ExplorerQuery::kPivots: return explorer_.Pivots(request);
      case ExplorerQuery::kEpoch: return explorer_.EpochBlocks(static_cast<int64_t>(epoch), request);
      case ExplorerQuery::kBlocksMiddle: request.after = middle_of_blocks_; return explorer_.Blocks(request);
      case ExplorerQuery::kAccountMiddle: {
        const uint64_t account = random_.Below(kLongAccounts);
        if (!middles_of_accounts_.empty()) request.after = middles_of_accounts_[account];
        return explorer_.AccountTransactions(chain_.EarlyAccount(account), request);
      }
      default: return explorer_.Blocks(request);
    }
  };
  BRAID_TRY(const explorer::Page page, read());
  // Every block has transactions, and every early account has some among the first epochs, if these are large enough.
  if (!page.rows.empty() || query == ExplorerQuery::kAccountMiddle || query == ExplorerQuery::kBlockTransactions) {
    return {};
  }
  return Status(Code::kInternalError,
                StrCat("query '", NameOf(query), "': an empty page for something of epoch ", epoch));
}

Result<std::vector<ExplorerQueryRow>> MeasureQueries(explorer::Explorer& explorer, const ExplorerChain& chain,
                                                     uint64_t epochs) {
  const ExplorerBenchOptions& options = chain.options();
  std::vector<ExplorerQueryRow> rows(kExplorerQueries);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].query = static_cast<ExplorerQuery>(i);
    rows[i].transactions = epochs * options.epoch_transactions;
  }
  ExplorerReader reader(explorer, chain, options.seed);
  BRAID_CHECK_OK(reader.FindMiddles());
  // By turns, so that whatever else the machine does meets all of them alike.
  for (uint64_t round = 0; round < kRoundsToWarmUp + options.queries && !options.stop->load(); ++round) {
    for (ExplorerQueryRow& row : rows) {
      const auto start = std::chrono::steady_clock::now();
      BRAID_CHECK_OK(reader.Ask(row.query, epochs));
      const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
      if (round >= kRoundsToWarmUp) row.nanos.Record(static_cast<uint64_t>(took.count()));
    }
  }
  return rows;
}

}  // namespace braid::bench
