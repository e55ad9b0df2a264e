// Where a stopped import continues: how many of its epochs have led to the present chain.
#include "cli/explorer/import.h"

#include <simdjson.h>

#include <charconv>
#include <filesystem>
#include <optional>

#include "cli/transfer/lines.h"

namespace braid::cli::explorer {
namespace {

using braid::explorer::At;
using braid::explorer::Explorer;
using braid::explorer::kEpochBytesMax;

// As much of an epoch as its place in the chain needs.
struct EpochLink {
  int64_t number = -1;
  std::string hash;
  std::string parent;
  int64_t blocks = 0;
  int64_t transactions = 0;
};

// As ParseEpoch() would spell it.
std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
  return lower;
}

// Nothing if the line is not an epoch; the import reports the error.
std::optional<EpochLink> ReadLink(simdjson::dom::parser& parser, std::string_view line) {
  simdjson::dom::element epoch;
  std::string_view number;
  std::string_view hash;
  std::string_view parent;
  simdjson::dom::array blocks;
  if (parser.parse(line.data(), line.size()).get(epoch) != simdjson::SUCCESS ||
      epoch["epochNumber"].get(number) != simdjson::SUCCESS || epoch["pivotHash"].get(hash) != simdjson::SUCCESS ||
      epoch["blocks"].get(blocks) != simdjson::SUCCESS || !number.starts_with("0x")) {
    return std::nullopt;
  }
  EpochLink link{.hash = LowerCase(hash)};
  const char* end = number.data() + number.size();
  const auto [stopped, error] = std::from_chars(number.data() + 2, end, link.number, 16);
  if (error != std::errc() || stopped != end) return std::nullopt;
  for (const simdjson::dom::element block : blocks) {
    simdjson::dom::array transactions;
    if (block["parentHash"].get(parent) != simdjson::SUCCESS) parent = {};  // that of the last one, the pivot, counts
    ++link.blocks;
    if (block["transactions"].get(transactions) == simdjson::SUCCESS) {
      link.transactions += static_cast<int64_t>(transactions.size());
    }
  }
  link.parent = LowerCase(parent);
  return link;
}

// The chain that the epochs of a file leave, by hash alone.
class LinkedChain {
 public:
  /// False if it does not fit.
  bool Take(const EpochLink& link) {
    if (hashes_.empty()) {
      first_ = link.number;
      first_parent_ = link.parent;
    }
    const int64_t place = link.number - first_;
    if (place < 0 || place > static_cast<int64_t>(hashes_.size())) return false;
    const auto kept = static_cast<size_t>(place);
    if (kept < hashes_.size() && hashes_[kept] == link.hash) return true;
    if (link.parent != (kept == 0 ? first_parent_ : hashes_[kept - 1])) return false;
    hashes_.resize(kept);
    hashes_.push_back(link.hash);
    return true;
  }
  int64_t first() const { return first_; }
  const std::string& tip() const { return hashes_.back(); }

 private:
  int64_t first_ = 0;
  std::string first_parent_;
  std::vector<std::string> hashes_;
};

class ResumeScan {
 public:
  ResumeScan(const At& tip, const std::atomic<bool>& stop) : tip_(tip), stop_(stop) {}

  // False: nothing behind this file is to be looked at.
  bool Read(const std::string& path) {
    std::error_code error;
    if (path == "-" || !std::filesystem::is_regular_file(path, error)) return false;
    const auto lines = transfer::Lines::Open(path, kEpochBytesMax);
    if (!lines.ok()) return false;
    while (!stop_.load()) {
      const auto next = (*lines)->Next();
      if (!next.ok()) return false;
      if (next->empty()) return true;
      for (const std::string_view line : *next) {
        if (!Take(line)) return false;
      }
    }
    return false;
  }
  const EpochsBefore& found() const { return found_; }
  int64_t first() const { return chain_.first(); }

 private:
  bool Take(std::string_view line) {
    const std::optional<EpochLink> link = ReadLink(parser_, line);
    if (!link || !chain_.Take(*link)) return false;
    ++read_.epochs;
    read_.blocks += link->blocks;
    read_.transactions += link->transactions;
    if (chain_.tip() == tip_.pivot) found_ = read_;
    return true;
  }

  const At& tip_;
  const std::atomic<bool>& stop_;
  simdjson::dom::parser parser_;
  LinkedChain chain_;
  EpochsBefore read_;
  EpochsBefore found_;
};

}  // namespace

Result<EpochsBefore> EpochsThatLedTo(Explorer& explorer, const At& tip, const std::vector<std::string>& files,
                                     const std::atomic<bool>& stop) {
  if (tip.epoch < 0) return EpochsBefore();
  ResumeScan scan(tip, stop);
  for (const std::string& file : files) {
    if (!scan.Read(file)) break;
  }
  if (scan.found().epochs == 0) return EpochsBefore();
  // The links of the files reach from their first epoch to the tip; the chain must, too.
  BRAID_TRY(const braid::explorer::Page first, explorer.EpochBlocks(scan.first(), {.limit = 1}));
  return first.found ? scan.found() : EpochsBefore();
}

}  // namespace braid::cli::explorer
