// Chains::Merge: all chains as one stream in the order of sequences, a few segments of each in memory.
#include <algorithm>
#include <deque>
#include <queue>

#include "patterns/chains/chain_reader.h"

namespace braid {
namespace {

using chains::ChainReader;

// All chains together keep about this many segments; each at least one.
constexpr int64_t kSegmentsAhead = 64;

}  // namespace

Status Chains::Merge(int64_t from_sequence, const std::function<Status(const ChainRecordView&)>& each) {
  BRAID_TRY(const std::vector<ChainHead> heads, Heads());
  const int64_t ahead = std::max<int64_t>(1, kSegmentsAhead / std::max<int64_t>(1, static_cast<int64_t>(heads.size())));
  std::deque<ChainReader> readers;
  const auto later = [](const ChainReader* a, const ChainReader* b) {
    const ChainRecordView& left = a->record();
    const ChainRecordView& right = b->record();
    return std::pair(left.sequence, left.chain) > std::pair(right.sequence, right.chain);
  };
  std::priority_queue<ChainReader*, std::vector<ChainReader*>, decltype(later)> order(later);
  for (const ChainHead& head : heads) {
    if (head.sequence < from_sequence) continue;
    const ChainReader::Range range{
        .chain = head.chain, .from = std::max<int64_t>(1, from_sequence), .to = head.sequence, .segments_ahead = ahead};
    ChainReader& reader = readers.emplace_back(*parts_, range);
    BRAID_TRY(const bool any, reader.Next());
    if (any) order.push(&reader);
  }
  while (!order.empty()) {
    ChainReader* const reader = order.top();
    order.pop();
    const ChainRecordView& record = reader->record();
    const bool first_of_its_chains = record.also.empty() || record.chain < record.also.front();
    if (first_of_its_chains) BRAID_CHECK_OK(each(record));
    BRAID_TRY(const bool more, reader->Next());
    if (more) order.push(reader);
  }
  return {};
}

}  // namespace braid
