// ChainReader, and what reads with it: Chains::Read gives the records of one chain, Chains::Merge those of all chains
// as one stream in the order of sequences, with a few segments of each in memory.
#include "patterns/chains/chain_reader.h"

#include <algorithm>
#include <deque>
#include <queue>

#include "base/strings.h"
#include "patterns/chains/log.h"

namespace braid::chains {

Result<bool> ChainReader::Next() {
  if (started_) ++index_;
  started_ = true;
  for (;; ++index_) {
    if (index_ >= segment_.records().size()) {
      BRAID_TRY(const bool more, NextSegment());
      if (!more) return false;
    }
    if (record().sequence > range_.to) return false;
    if (record().sequence >= next_) break;
  }
  next_ = record().sequence + 1;
  return true;
}

Result<bool> ChainReader::NextSegment() {
  index_ = 0;
  if (!fetched_.empty()) fetched_.pop_front();
  if (fetched_.empty() && next_ <= range_.to) {
    const Client client = parts_.clients.Acquire();
    BRAID_CHECK_OK(FindSegments(client.get(), parts_.options,
                                {.chain = range_.chain, .from_sequence = next_, .limit = range_.segments_ahead},
                                [&](const bson_t& document) {
                                  fetched_.emplace_back(bson_copy(&document));
                                  return Status();
                                }));
  }
  if (fetched_.empty()) {
    if (next_ > range_.to) return false;
    return Status(Code::kRecordDamaged,
                  StrCat("chain ", range_.chain, ": expected records from ", next_, " to ", range_.to));
  }
  const Status status = segment_.Read(*fetched_.front());
  if (!status.ok()) return status.CausedBy(StrCat("chain ", range_.chain, ", records from sequence ", next_));
  return true;
}

}  // namespace braid::chains

namespace braid {
namespace {

using chains::ChainReader;

// All chains together keep about this many segments; each at least one.
constexpr int64_t kSegmentsAhead = 64;

}  // namespace

Status Chains::Read(int64_t chain, int64_t from_sequence,
                    const std::function<Result<bool>(const ChainRecordView&)>& each) {
  constexpr int64_t kSegmentsAhead = 16;
  BRAID_TRY(const std::vector<ChainHead> heads, parts_->LoadHeads({&chain, 1}));
  if (heads.empty()) return {};
  chains::ChainReader reader(*parts_, {.chain = chain,
                                       .from = std::max<int64_t>(1, from_sequence),
                                       .to = heads.front().sequence,
                                       .segments_ahead = kSegmentsAhead});
  for (;;) {
    BRAID_TRY(const bool more, reader.Next());
    if (!more) return {};
    BRAID_TRY(const bool go_on, each(reader.record()));
    if (!go_on) return {};
  }
}

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
