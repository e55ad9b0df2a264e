#include "services/settlement/views/chain_cursor.h"

#include <algorithm>

#include "base/strings.h"
#include "client/fields.h"
#include "patterns/chains/hash.h"
#include "patterns/chains/log.h"

namespace braid::settlement::views {

bool ChainCursor::Damaged(int64_t sequence, std::string what) {
  damage_ = {range_.chain, sequence, std::move(what)};
  return false;
}

Result<bool> ChainCursor::Next() {
  if (damage_) return false;
  while (position_.sequence < range_.last) {
    if (record_.segment == nullptr || index_ >= record_.segment->segment.records().size()) {
      BRAID_TRY(const bool more, NextSegment());
      if (!more) return false;
    }
    const ChainRecordView& record = record_.segment->segment.records()[index_++];
    if (record.sequence <= position_.sequence) continue;
    if (record.sequence > range_.last) break;
    if (record.prev_hash != position_.hash) {
      return Damaged(record.sequence, StrCat("prev_hash: expected ", chains::HexOf(position_.hash), " of sequence ",
                                             position_.sequence, ", got ", chains::HexOf(record.prev_hash)));
    }
    if (record.sequence == range_.last && range_.last_hash && record.hash != *range_.last_hash) {
      return Damaged(record.sequence, StrCat("hash in the head: expected ", chains::HexOf(record.hash), ", got ",
                                             chains::HexOf(*range_.last_hash)));
    }
    position_ = {record.sequence, record.hash, position_.records + 1};
    record_.end = position_;
    record_.view = &record;
    return true;
  }
  return position_.sequence < range_.last && range_.last_hash
             ? Damaged(range_.last, "the head names a record that the log does not have")
             : false;
}

Result<bool> ChainCursor::NextSegment() {
  if (fetched_.empty()) {
    const Client client = clients_.Acquire();
    BRAID_CHECK_OK(chains::FindSegments(
        client.get(), log_,
        {.chain = range_.chain, .from_sequence = position_.sequence + 1, .limit = range_.segments_ahead},
        [&](const bson_t& document) {
          fetched_.emplace_back(bson_copy(&document));
          return Status();
        }));
  }
  if (fetched_.empty()) {
    return range_.last_hash
               ? Damaged(range_.last, StrCat("the head names a record that the log does not have; its newest is ",
                                             position_.sequence))
               : false;
  }
  auto loaded = std::make_shared<LoadedSegment>();
  loaded->document = std::move(fetched_.front());
  fetched_.pop_front();
  const Status status = loaded->segment.Read(*loaded->document);
  if (!status.ok()) {
    const int64_t first = client::IntegerOf(loaded->document.get(), "first_seq");  // for people: it may be a lie, too
    return Damaged(std::max(first, position_.sequence + 1), std::string(status.message()));
  }
  if (!loaded->segment.problems().empty()) {
    return Damaged(loaded->segment.records().front().sequence, loaded->segment.problems().front());
  }
  index_ = 0;
  record_.segment = std::move(loaded);
  return true;
}

}  // namespace braid::settlement::views
