#include "patterns/chains/chain_reader.h"

#include <algorithm>

#include "base/strings.h"
#include "patterns/chains/log.h"

namespace braid {
namespace chains {

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

}  // namespace chains

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

}  // namespace braid
