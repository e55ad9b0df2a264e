#include "bench/ledger_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "base/assert.h"

namespace braid::bench {
namespace {

// Lines of the 64 most frequent products (StockCode) in the UCI Online Retail data, December 2010 to March 2011:
// 20 859 of 142 083 lines, 3269 products in all.
constexpr int kLinesOfProducts[kSymbolsMax] = {
    762, 728, 570, 546, 462, 455, 447, 431, 416, 413, 409, 377, 372, 371, 359, 354, 346, 332, 325, 325, 323, 319,
    313, 312, 311, 310, 310, 306, 305, 304, 304, 303, 300, 295, 289, 284, 284, 273, 271, 271, 267, 266, 266, 264,
    262, 259, 258, 257, 256, 255, 254, 253, 252, 251, 250, 249, 248, 247, 245, 244, 243, 243, 242, 241};

constexpr double kHotShare = 0.9;

// An amount with two digits after the point.
std::string Amount(uint64_t hundredths) { return fmt::format("{}.{:02}", hundredths / 100, hundredths % 100); }

class PayloadMaker {
 public:
  PayloadMaker(const RecordsOptions& options, Random& random) : options_(options), random_(random) {}

  std::string Make(int64_t sequence, int64_t symbol) {
    std::string out;
    out.reserve(options_.bytes + 128);
    if (options_.random_bytes) {
      RandomBytes(out);
    } else {
      Output(sequence, symbol, out);
    }
    return out;
  }

 private:
  void RandomBytes(std::string& out) {
    while (out.size() < options_.bytes) {
      const uint64_t bits = random_.Next();
      out.append(reinterpret_cast<const char*>(&bits), std::min(sizeof(bits), options_.bytes - out.size()));
    }
  }

  // An order, what became of it, and as many trades and changes of balances as there is room for.
  void Output(int64_t sequence, int64_t symbol, std::string& out) {
    static constexpr const char* kStatus[] = {"NEW", "PARTIALLY_FILLED", "FILLED", "CANCELED"};
    const uint64_t order = 1'000'000'000 + static_cast<uint64_t>(sequence) * 3 + random_.Below(3);
    const uint64_t user = 10'000 + random_.Below(50'000);
    const uint64_t price = 4'000'000 + random_.Below(100'000);
    const auto to = std::back_inserter(out);
    fmt::format_to(to, R"({{"output_seq":{},"symbol_id":{},"input":{{"type":"PlaceOrder","order_id":{},"user_id":{},)",
                   sequence, symbol, order, user);
    fmt::format_to(to, R"("side":"{}","price":"{}","qty":"{}"}},)", random_.Chance(1, 2) ? "BUY" : "SELL",
                   Amount(price), Amount(1 + random_.Below(100'000)));
    fmt::format_to(to, R"("order_update":{{"order_id":{},"status":"{}"}},"events":[)", order,
                   kStatus[random_.Below(std::size(kStatus))]);
    constexpr size_t kHalfAnEvent = 50;
    for (size_t events = 0; out.size() + kHalfAnEvent < options_.bytes; ++events) {
      if (events > 0) out += ',';
      if (events % 3 == 0) {
        fmt::format_to(to, R"({{"trade_id":{},"price":"{}","qty":"{}","buyer_id":{},"seller_id":{}}})",
                       2'000'000'000 + random_.Below(1u << 30), Amount(price), Amount(1 + random_.Below(10'000)), user,
                       10'000 + random_.Below(50'000));
      } else {
        fmt::format_to(to, R"({{"user_id":{},"asset":"{}","delta":"{}{}","reason":"trade"}})",
                       events % 3 == 1 ? user : 10'000 + random_.Below(50'000), events % 2 == 0 ? "USDT" : "BTC",
                       events % 2 == 0 ? "-" : "", Amount(random_.Below(10'000'000)));
      }
    }
    out += "]}";
  }

  const RecordsOptions& options_;
  Random& random_;
};

}  // namespace

const char* NameOf(Spread spread) {
  switch (spread) {
    case Spread::kGlobal: return "one global chain";
    case Spread::kEqual: return "equal symbols";
    case Spread::kHot: return "one symbol 90 %";
    case Spread::kReal: return "real skew";
  }
  return "";
}

std::vector<double> SharesOf(Spread spread, uint32_t symbols) {
  BRAID_ASSERT(symbols >= 1 && symbols <= kSymbolsMax);
  if (spread == Spread::kGlobal) return {1.0};
  std::vector<double> shares(symbols, 1.0);
  if (spread == Spread::kReal) std::copy_n(kLinesOfProducts, symbols, shares.begin());
  if (spread == Spread::kHot && symbols > 1) {
    std::fill(shares.begin() + 1, shares.end(), (1 - kHotShare) / kHotShare / (symbols - 1));
  }
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

std::vector<ChainRecord> MakeRecords(const RecordsOptions& options) {
  Random random(options.seed);
  std::vector<double> ends = SharesOf(options.spread, options.symbols);
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  PayloadMaker payloads(options, random);
  std::vector<ChainRecord> records(options.count);
  for (uint64_t i = 0; i < options.count; ++i) {
    // The last end may be a rounding error below 1.
    const auto chain = std::upper_bound(ends.begin(), ends.end() - 1, random.Unit()) - ends.begin();
    records[i].chain = chain + 1;
    records[i].sequence = static_cast<int64_t>(i) + 1;
    records[i].payload = payloads.Make(records[i].sequence, records[i].chain);
  }
  return records;
}

}  // namespace braid::bench
