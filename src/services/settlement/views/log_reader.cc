#include "services/settlement/views/log_reader.h"

#include <algorithm>

#include "base/assert.h"
#include "base/strings.h"
#include "client/fields.h"
#include "patterns/chains/hash.h"
#include "patterns/chains/log.h"

namespace braid::settlement::views {
namespace {

// All chains together read about this many segments at a time; each at least two.
constexpr int64_t kSegmentsAhead = 64;
// Records whose hashes and payloads are checked by one thread at a time.
constexpr size_t kPiece = 256;

bool Later(const ChainCursor* a, const ChainCursor* b) {
  return std::pair(a->record().view->sequence, a->chain()) > std::pair(b->record().view->sequence, b->chain());
}

bool IsItem(const ChainRecordView& record) { return record.also.empty() || record.chain < record.also.front(); }

}  // namespace

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
    BRAID_ASSERT(record.sequence > position_.sequence && record.sequence <= range_.last);
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
    const int64_t first =
        client::IntegerOf(loaded->document.get(), "first_seq");  // for the message only: it may be wrong, too
    return Damaged(std::max(first, position_.sequence + 1), std::string(status.message()));
  }
  if (!loaded->segment.problems().empty()) {
    return Damaged(loaded->segment.records().front().sequence, loaded->segment.problems().front());
  }
  bson_iter_t stored;
  if (bson_iter_init_find(&stored, loaded->document.get(), "created_at") && BSON_ITER_HOLDS_DATE_TIME(&stored)) {
    loaded->at_ms = bson_iter_date_time(&stored);
  }
  BRAID_ASSERT(!loaded->segment.records().empty());
  index_ = 0;
  record_.segment = std::move(loaded);
  return true;
}

// Contents are checked later than links, so that the first damage of a chain may be found last.
void LogReader::Name(const ChainDamage& damage) {
  const auto [place, is_new] = damage_.emplace(damage.chain, damage);
  if (!is_new && damage.sequence < place->second.sequence) place->second = damage;
}

void LogReader::End(const ChainDamage& damage) {
  Name(damage);
  ended_.insert(damage.chain);
}

Status LogReader::Start(const Positions& from, const std::vector<ChainHead>& heads,
                        const std::map<int64_t, int64_t>& stop_before) {
  reached_ = from;
  std::map<int64_t, const ChainHead*> by_chain;
  for (const ChainHead& head : heads) by_chain.emplace(head.chain, &head);
  for (const auto& [chain, position] : from) {
    if (!by_chain.contains(chain)) End({chain, position.sequence, "records were applied, but there is no head"});
  }
  const int64_t ahead = std::max<int64_t>(2, kSegmentsAhead / std::max<int64_t>(1, static_cast<int64_t>(heads.size())));
  for (const auto& [chain, head] : by_chain) {
    const auto place = from.find(chain);
    const Position after = place == from.end() ? Position() : place->second;
    const auto stop = stop_before.find(chain);
    const bool to_head = stop == stop_before.end() || stop->second > head->sequence;
    if (to_head &&
        (head->sequence < after.sequence || (head->sequence == after.sequence && head->hash != after.hash))) {
      End({chain, after.sequence,
           StrCat("the head is ", head->sequence, " ", chains::HexOf(head->hash), ", but ", after.sequence, " ",
                  chains::HexOf(after.hash), " was applied")});
      continue;
    }
    ChainCursor::Range range{.chain = chain, .after = after, .last = head->sequence, .segments_ahead = ahead};
    to_head ? void(range.last_hash = head->hash) : void(range.last = stop->second - 1);
    if (range.last <= after.sequence) continue;
    ChainCursor& cursor = cursors_.emplace_back(clients_, log_, range);
    BRAID_TRY(const bool any, cursor.Next());
    if (any) order_.push_back(&cursor);
    if (cursor.damage()) Name(*cursor.damage());
  }
  std::make_heap(order_.begin(), order_.end(), Later);
  return {};
}

Result<std::vector<LogReader::Checked>> LogReader::ReadRecords() {
  std::vector<Checked> records;
  records.reserve(last_batch_);
  size_t bytes = 0;
  while (!order_.empty() && records.size() < options_.batch_records_max && bytes < options_.batch_bytes_max) {
    std::pop_heap(order_.begin(), order_.end(), Later);
    ChainCursor& cursor = *order_.back();
    if (ended_.contains(cursor.chain())) {
      order_.pop_back();
      continue;
    }
    bytes += cursor.record().view->payload.size();
    records.emplace_back().record = cursor.record();
    BRAID_TRY(const bool more, cursor.Next());
    if (more) {
      std::push_heap(order_.begin(), order_.end(), Later);
      continue;
    }
    order_.pop_back();
    if (cursor.damage()) Name(*cursor.damage());  // records read before it are still applied
  }
  last_batch_ = records.size();
  return records;
}

// In parallel: this is where the time goes.
void LogReader::Check(std::vector<Checked>& records) {
  workers_.Run((records.size() + kPiece - 1) / kPiece, [&](size_t piece) {
    OutputParser parser;
    const size_t end = std::min(records.size(), (piece + 1) * kPiece);
    for (size_t i = piece * kPiece; i < end; ++i) {
      Checked& checked = records[i];
      const ChainRecordView& view = *checked.record.view;
      if (const ChainHash hash = HashChainRecord(view); hash != view.hash) {
        checked.problem =
            StrCat("hash: expected ", chains::HexOf(hash), " from the contents, got ", chains::HexOf(view.hash));
        continue;
      }
      if (!IsItem(view)) continue;
      auto effects = parser.DecodeEffects(view.payload, checked.room);
      if (!effects.ok()) {
        checked.problem = std::string(effects.error().message());
      } else if (effects->output_seq != view.sequence) {
        checked.problem = StrCat("output_seq: expected ", view.sequence, ", got ", effects->output_seq);
      } else {
        checked.effects = *std::move(effects);
      }
    }
  });
}

Result<Batch> LogReader::Next() {
  for (;;) {
    BRAID_TRY(std::vector<Checked> records, ReadRecords());
    if (records.empty()) return Batch();
    Check(records);
    Batch batch;
    batch.items.reserve(records.size());
    for (Checked& checked : records) {
      const ChainRecordView& view = *checked.record.view;
      if (ended_.contains(view.chain)) continue;
      if (!checked.problem.empty()) {
        End({view.chain, view.sequence, std::move(checked.problem)});
        continue;
      }
      ++batch.records;
      batch.payload_bytes += static_cast<int64_t>(view.payload.size());
      batch.ends[view.chain] = checked.record.end;
      if (!IsItem(view)) continue;
      Item& item = batch.items.emplace_back();
      item.chain = view.chain;
      item.sequence = view.sequence;
      item.at_ms = checked.record.segment->at_ms;
      item.effects = std::move(checked.effects);
      checked.room ? item.bytes = std::move(checked.room) : item.bytes = std::move(checked.record.segment);
    }
    if (batch.empty()) continue;  // of all but damage
    BRAID_ASSERT(static_cast<int64_t>(batch.items.size()) <= batch.records && !batch.ends.empty());
    batch.before = reached_;
    for (const auto& [chain, end] : batch.ends) reached_[chain] = end;
    return batch;
  }
}

}  // namespace braid::settlement::views
