#include "patterns/chains/verify.h"

#include <algorithm>

#include "base/assert.h"
#include "base/strings.h"
#include "client/fields.h"
#include "patterns/chains/hash.h"

namespace braid::chains {
namespace {

constexpr size_t kGroupBytes = 256 << 10;
constexpr size_t kGroupSegments = 512;
constexpr size_t kPieces = 8;  // of a group; enough for threads that come late

}  // namespace

void SegmentCheck::Run(int64_t chain, const bson_t& document) {
  wrong.clear();
  status = segment.Read(document);
  if (!status.ok()) {
    first_sequence = client::IntegerOf(&document, "first_seq");
    last_sequence = client::IntegerOf(&document, "last_seq");
    return;
  }
  for (size_t i = 0; i < segment.records().size(); ++i) {
    ChainRecordView record = segment.records()[i];
    record.chain = chain;
    const ChainHash hash = HashChainRecord(record);
    if (hash != record.hash) wrong.push_back({i, hash});
  }
}

void ChainVerifier::Add(const bson_t& document) {
  check_.Run(chain_, document);
  Add(check_);
}

void ChainVerifier::Add(const SegmentCheck& check) {
  if (!check.status.ok()) {
    return AddUnreadable(check.first_sequence, check.last_sequence, std::string(check.status.message()));
  }
  const Segment& segment = check.segment;
  if (on_segment_) on_segment_(segment);
  const int64_t first = segment.records().front().sequence;
  for (const std::string& problem : segment.problems()) Damaged(first, problem);
  if (segment.chain() != chain_) Damaged(first, StrCat("symbol_id: expected ", chain_, ", got ", segment.chain()));
  if (linked_ && segment.prev_hash() != hash_ && segment.prev_hash() != computed_) {
    Damaged(first, StrCat("prev_hash of the segment: expected ", HexOf(hash_), " of sequence ", sequence_, ", got ",
                          HexOf(segment.prev_hash()), "; it was changed, or records before it are missing"));
    computed_ = hash_;
  }
  // Continues with the segment's hash and keeps the other one as an alternative, so that one fault is reported once.
  hash_ = segment.prev_hash();
  linked_ = true;
  auto wrong = check.wrong.begin();
  for (size_t i = 0; i < segment.records().size(); ++i) {
    const ChainRecordView& record = segment.records()[i];
    const bool differs = wrong != check.wrong.end() && wrong->index == i;
    AddRecord(record, differs ? (wrong++)->hash : record.hash);
  }
}

// The next segment is assumed to continue from the hash that this one ends with.
void ChainVerifier::AddUnreadable(int64_t sequence, int64_t last, std::string what) {
  Damaged(sequence, std::move(what));
  unreadable_ = true;
  linked_ = false;
  computed_.reset();
  sequence_ = std::max(sequence_, last);
  if (expected_ && expected_->sequence <= sequence_) expected_seen_ = true;  // not known: the segment is named
}

// A stored hash that differs from the computed one means that contents or hash were changed. The next record's
// prev_hash tells which: it equals either the stored hash or the computed one. `hash`: the one computed from the stored
// hash before it.
void ChainVerifier::AddRecord(const ChainRecordView& record, ChainHash hash) {
  ++records_;
  payload_bytes_ += static_cast<int64_t>(record.payload.size());
  if (record.sequence <= sequence_) {
    Damaged(record.sequence, StrCat("sequence: expected one after ", sequence_, ", got ", record.sequence));
  }
  if (hash != record.hash && computed_) {
    ChainRecordView checked = record;
    checked.chain = chain_;
    checked.prev_hash = *computed_;
    hash = HashChainRecord(checked);
  }
  computed_.reset();
  if (hash != record.hash) {
    Damaged(record.sequence, StrCat("hash: expected ", HexOf(hash), " from the contents, got ", HexOf(record.hash)));
    computed_ = hash;
  }
  hash_ = record.hash;
  sequence_ = record.sequence;
  for (const int64_t other : record.also) shared_.push_back({record.sequence, chain_, other});
  if (tree_) tree_->Add(record.hash, record.sequence, nodes_);
  if (expected_ && expected_->sequence == record.sequence) CompareHead(record);
}

// If the records are damaged, their tree differs, too; the fault is reported only once.
void ChainVerifier::CompareHead(const ChainRecordView& record) {
  expected_seen_ = true;
  if (expected_->hash != record.hash) {
    Damaged(record.sequence,
            StrCat("hash in the head: expected ", HexOf(record.hash), ", got ", HexOf(expected_->hash)));
  } else if (sound_ && tree_ && expected_->tree && expected_->records == records_ && *expected_->tree != *tree_) {
    Damaged(record.sequence, StrCat("tree in the head: expected the root ", HexOf(tree_->Root()), ", got ",
                                    HexOf(expected_->tree->Root())));
  }
}

void ChainVerifier::Finish(const std::optional<ChainHead>& before, const std::optional<ChainHead>& after) {
  if (before && before->sequence > 0 && !expected_seen_) {
    Damaged(before->sequence, StrCat("the head names a record that the log does not have; its newest is ", sequence_));
  }
  const int64_t head_sequence = after ? after->sequence : 0;
  if (sequence_ > head_sequence) {
    Damaged(sequence_, after ? StrCat("the log continues past the head: expected ", head_sequence, " to be the newest")
                             : std::string("the chain has records, but no head"));
  }
  const bool quiet = before && after && before->sequence == after->sequence;
  if (quiet && whole_ && !unreadable_ && after->records != records_) {
    Damaged(head_sequence, StrCat("records in the head: expected ", records_, ", got ", after->records));
  }
}

Status CheckedSegments::Run(const std::function<void(const SegmentCheck&)>& each) {
  Group groups[2];
  BRAID_CHECK_OK(Read(groups[0]));
  for (size_t current = 0; groups[current].used > 0; current = 1 - current) {
    Group& now = groups[current];
    Status read;
    helpers_.Run(1 + kPieces, [&](size_t piece) {
      if (piece == 0) {
        read = Read(groups[1 - current]);
      } else {
        Check(now, piece - 1);
      }
    });
    BRAID_CHECK_OK(read);
    for (size_t i = 0; i < now.used; ++i) each(now.slots[i]->check);
  }
  return {};
}

Status CheckedSegments::Read(Group& group) {
  group.used = 0;
  for (size_t bytes = 0; bytes < kGroupBytes && group.used < kGroupSegments;) {
    BRAID_TRY(const bson_t* document, cursor_.Next());
    if (document == nullptr) break;
    if (group.used == group.slots.size()) group.slots.push_back(std::make_unique<Slot>());
    const uint8_t* const data = bson_get_data(document);
    group.slots[group.used++]->bytes.assign(data, data + document->len);
    bytes += document->len;
  }
  return {};
}

void CheckedSegments::Check(Group& group, size_t piece) const {
  for (size_t i = group.used * piece / kPieces; i < group.used * (piece + 1) / kPieces; ++i) {
    Slot& slot = *group.slots[i];
    bson_t document;
    BRAID_ASSERT(bson_init_static(&document, slot.bytes.data(), slot.bytes.size()));
    slot.check.Run(chain_, document);
  }
}

}  // namespace braid::chains
