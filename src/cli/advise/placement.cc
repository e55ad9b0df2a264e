#include "cli/advise/placement.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "engine/bson/arena.h"
#include "engine/bson/key_encoding.h"

namespace braid::advise {

Placement Placement::OfHashes(size_t shards) {
  std::vector<std::string> splits;
  bson::Arena arena;
  const uint64_t width = std::numeric_limits<uint64_t>::max() / shards;
  for (size_t i = 1; i < shards; ++i) {
    const auto from_lowest = static_cast<int64_t>((uint64_t{1} << 63) + i * width + 1);  // wraps at -2^63
    bson::AppendKey(&splits.emplace_back(), arena.Int64(from_lowest));
  }
  return {shards, std::move(splits)};
}

Placement Placement::OfQuantiles(const std::vector<std::string>& sorted, size_t shards) {
  std::vector<std::string> splits;
  for (size_t i = 1; i < shards && !sorted.empty(); ++i) splits.push_back(sorted[i * sorted.size() / shards]);
  return {shards, std::move(splits)};
}

size_t Placement::ShardOf(std::string_view key) const {
  return static_cast<size_t>(std::upper_bound(splits_.begin(), splits_.end(), key) - splits_.begin());
}

void Placement::Touch(std::string_view begin, std::string_view end, std::vector<bool>& touched) const {
  if (begin >= end) return;
  const auto last = static_cast<size_t>(std::lower_bound(splits_.begin(), splits_.end(), end) - splits_.begin());
  for (size_t i = ShardOf(begin); i <= last; ++i) touched[i] = true;
}

std::vector<uint64_t> Placement::Count(const std::vector<std::string>& keys) const {
  std::vector<uint64_t> counts(shards_);
  for (const std::string& key : keys) ++counts[ShardOf(key)];
  return counts;
}

double MaxOverMean(const std::vector<uint64_t>& counts) {
  const uint64_t sum = std::accumulate(counts.begin(), counts.end(), uint64_t{0});
  if (sum == 0) return 1;
  const uint64_t most = *std::max_element(counts.begin(), counts.end());
  return static_cast<double>(most) * static_cast<double>(counts.size()) / static_cast<double>(sum);
}

}  // namespace braid::advise
