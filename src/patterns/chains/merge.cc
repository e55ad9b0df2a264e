// Chains::Merge: all chains as one stream in the order of sequences, a few segments of each in memory.
#include <algorithm>
#include <deque>
#include <queue>

#include "base/strings.h"
#include "patterns/chains/log.h"
#include "patterns/chains/parts.h"
#include "patterns/chains/segment.h"

namespace braid {
namespace {

// All chains together keep about this many segments; each at least one.
constexpr int64_t kSegmentsAhead = 64;

// The records of one chain, one after another. Segments are asked for by sequence each time: a cursor of a quiet chain
// would time out while the others are read.
class ChainReader {
 public:
  ChainReader(chains::Parts& parts, const ChainHead& head, int64_t from_sequence, int64_t ahead)
      : parts_(parts), head_(head), next_(from_sequence), ahead_(ahead) {}

  const ChainRecordView& record() const { return segment_.records()[index_]; }

  /// False at the end.
  Result<bool> Next() {
    if (started_) ++index_;
    started_ = true;
    for (;; ++index_) {
      if (index_ >= segment_.records().size()) {
        BRAID_TRY(const bool more, NextSegment());
        if (!more) return false;
      }
      if (record().sequence > head_.sequence) return false;
      if (record().sequence >= next_) break;
    }
    next_ = record().sequence + 1;
    return true;
  }

 private:
  Result<bool> NextSegment() {
    index_ = 0;
    if (!fetched_.empty()) fetched_.pop_front();
    if (fetched_.empty() && next_ <= head_.sequence) {
      const Client client = parts_.clients.Acquire();
      BRAID_CHECK_OK(chains::FindSegments(client.get(), parts_.options,
                                          {.chain = head_.chain, .from_sequence = next_, .limit = ahead_},
                                          [&](const bson_t& document) {
                                            fetched_.emplace_back(bson_copy(&document));
                                            return Status();
                                          }));
    }
    if (fetched_.empty()) {
      if (next_ > head_.sequence) return false;
      return Status(Code::kRecordDamaged,
                    StrCat("chain ", head_.chain, ": expected records from ", next_, " to ", head_.sequence));
    }
    const Status status = segment_.Read(*fetched_.front());
    if (!status.ok()) return status.CausedBy(StrCat("chain ", head_.chain, ", records from sequence ", next_));
    return true;
  }

  chains::Parts& parts_;
  const ChainHead head_;
  int64_t next_;  // the least sequence still wanted
  const int64_t ahead_;
  std::deque<client::BsonPtr> fetched_;  // the first is in segment_
  chains::Segment segment_;
  size_t index_ = 0;
  bool started_ = false;
};

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
    ChainReader& reader = readers.emplace_back(*parts_, head, std::max<int64_t>(1, from_sequence), ahead);
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
