#include "patterns/chains/segment.h"

#include <zstd.h>

#include <algorithm>
#include <memory>

#include "base/assert.h"
#include "base/strings.h"
#include "patterns/chains/bytes.h"
#include "patterns/chains/hash.h"
#include "patterns/chains/segment_format.h"

namespace braid::chains {
namespace {

using Decompressor = std::unique_ptr<ZSTD_DCtx, decltype([](ZSTD_DCtx* context) { ZSTD_freeDCtx(context); })>;

}  // namespace

Status Segment::Read(const bson_t& document) {
  problems_.clear();
  records_.clear();
  also_.clear();
  BRAID_CHECK_OK(ReadFields(document));
  BRAID_CHECK_OK(ReadData());
  if (id_ != SegmentId(chain_, first_sequence_)) {
    problems_.push_back(StrCat("_id: expected ", SegmentId(chain_, first_sequence_), ", got ", id_));
  }
  Compare("first_seq", first_sequence_, records_.front().sequence);
  Compare("last_seq", last_sequence_, records_.back().sequence);
  if (hash_ != records_.back().hash) {
    problems_.push_back(StrCat("hash of the segment: expected ", HexOf(records_.back().hash), ", got ", HexOf(hash_)));
  }
  return {};
}

// Every field once, of its type, and no other.
Status Segment::ReadFields(const bson_t& document) {
  const auto integer = [](const bson_iter_t& field, int64_t& to) {
    if (BSON_ITER_HOLDS_INT64(&field)) to = bson_iter_int64(&field);
    return BSON_ITER_HOLDS_INT64(&field);
  };
  const auto binary = [](const bson_iter_t& field, std::string_view& to) {
    if (!BSON_ITER_HOLDS_BINARY(&field)) return false;
    bson_subtype_t subtype{};
    uint32_t size = 0;
    const uint8_t* bytes = nullptr;
    bson_iter_binary(&field, &subtype, &size, &bytes);
    to = {reinterpret_cast<const char*>(bytes), size};
    return subtype == BSON_SUBTYPE_BINARY;
  };
  const auto hash = [&](const bson_iter_t& field, ChainHash& to) {
    std::string_view bytes;
    if (!binary(field, bytes) || bytes.size() != to.size()) return false;
    std::copy(bytes.begin(), bytes.end(), to.begin());
    return true;
  };
  const auto text = [](const bson_iter_t& field, std::string_view& to) {
    uint32_t size = 0;
    const char* const bytes = bson_iter_utf8(&field, &size);
    if (BSON_ITER_HOLDS_UTF8(&field)) to = {bytes, size};
    return BSON_ITER_HOLDS_UTF8(&field);
  };
  const auto date = [](const bson_iter_t& field, int64_t& to) {
    if (BSON_ITER_HOLDS_DATE_TIME(&field)) to = bson_iter_date_time(&field);
    return BSON_ITER_HOLDS_DATE_TIME(&field);
  };
  bson_iter_t field;
  if (!bson_iter_init(&field, &document)) return Status(Code::kRecordDamaged, "not a document");
  int known = 0;
  while (bson_iter_next(&field)) {
    const std::string_view name = bson_iter_key(&field);
    ++known;
    const bool good = name == "_id"          ? text(field, id_)
                      : name == "symbol_id"  ? integer(field, chain_)
                      : name == "first_seq"  ? integer(field, first_sequence_)
                      : name == "last_seq"   ? integer(field, last_sequence_)
                      : name == "count"      ? integer(field, count_)
                      : name == "prev_hash"  ? hash(field, prev_hash_)
                      : name == "hash"       ? hash(field, hash_)
                      : name == "epoch"      ? integer(field, epoch_)
                      : name == "created_at" ? date(field, created_at_)
                      : name == "data"       ? binary(field, data_)
                                             : false;
    if (!good) return Status(Code::kRecordDamaged, StrCat(name, ": not a field of a segment, or not of its type"));
  }
  if (known != 10) return Status(Code::kRecordDamaged, StrCat("a segment has 10 fields, this one ", known));
  return {};
}

Status Segment::ReadData() {
  const auto damaged = [](const std::string& what) { return Status(Code::kRecordDamaged, StrCat("data: ", what)); };
  if (data_.size() < kHeaderBytes) return damaged(StrCat(data_.size(), " bytes are too few"));
  if (data_[0] != kVersion) return damaged(StrCat("unknown version ", static_cast<uint8_t>(data_[0])));
  const auto codec = static_cast<uint8_t>(data_[1]);
  if (codec > kZstandard) return damaged(StrCat("unknown compression ", codec));
  if (data_[2] != 0 || data_[3] != 0) problems_.emplace_back("data: bytes 2 and 3 are not zero");
  const uint32_t count = Get32(data_.data() + 4);
  const uint32_t plain_size = Get32(data_.data() + 8);
  Compare("count", count_, count);
  Compare("symbol_id", chain_, Get64(data_.data() + 12));
  Compare("epoch", epoch_, Get64(data_.data() + 20));
  Compare("created_at", created_at_, Get64(data_.data() + 28));
  const int64_t seal = Get64(data_.data() + kSealAt);
  const std::string_view rest = data_.substr(kHeaderBytes);
  if (count == 0 || count > rest.size() / kHashBytes) return damaged(StrCat("no room for ", count, " hashes"));
  const std::string_view hashes = rest.substr(0, count * kHashBytes);
  const std::string_view packed = rest.substr(hashes.size());
  if (codec == kPlain) {
    if (seal != 0) problems_.emplace_back("data: a seal where nothing is compressed");
    if (packed.size() != plain_size) return damaged(StrCat("expected ", plain_size, " bytes, got ", packed.size()));
    return ReadRecords(packed, count, hashes);
  }
  if (seal != SealOf(packed)) return damaged("the compressed bytes were changed");
  // The frame says its size too. One that lies must not make us ask for memory.
  if (plain_size > (64u << 20) || ZSTD_getFrameContentSize(packed.data(), packed.size()) != plain_size) {
    return damaged(StrCat("the compressed records are not ", plain_size, " bytes"));
  }
  thread_local const Decompressor context(ZSTD_createDCtx());
  BRAID_ASSERT(context != nullptr);
  plain_.resize(plain_size);
  const size_t size = ZSTD_decompressDCtx(context.get(), plain_.data(), plain_.size(), packed.data(), packed.size());
  if (ZSTD_isError(size) != 0) return damaged(StrCat("cannot be decompressed: ", ZSTD_getErrorName(size)));
  if (size != plain_size) return damaged(StrCat("expected ", plain_size, " bytes, got ", size));
  return ReadRecords(plain_, count, hashes);
}

Status Segment::ReadRecords(std::string_view plain, uint32_t count, std::string_view hashes) {
  const auto damaged = [&](uint32_t index, const char* what) {
    return Status(Code::kRecordDamaged, StrCat("data: record ", index + 1, " of ", count, " ", what));
  };
  records_.reserve(count);
  also_.reserve(plain.size() / sizeof(int64_t));
  ChainHash prev_hash = prev_hash_;
  for (uint32_t i = 0; i < count; ++i) {
    if (plain.size() < kRecordHeaderBytes) return damaged(i, "is cut off");
    ChainRecordView& record = records_.emplace_back();
    record.chain = chain_;
    record.sequence = Get64(plain.data());
    const size_t others = Get32(plain.data() + 8);
    const size_t payload_size = Get32(plain.data() + 12);
    plain.remove_prefix(kRecordHeaderBytes);
    if (others > plain.size() / sizeof(int64_t) || payload_size > plain.size() - others * sizeof(int64_t)) {
      return damaged(i, "is cut off");
    }
    const size_t first_other = also_.size();
    for (size_t other = 0; other < others; ++other) also_.push_back(Get64(plain.data() + other * sizeof(int64_t)));
    record.also = std::span(also_).subspan(first_other);
    plain.remove_prefix(others * sizeof(int64_t));
    record.payload = plain.substr(0, payload_size);
    plain.remove_prefix(payload_size);
    record.created_at_ms = created_at_;
    record.prev_hash = prev_hash;
    std::copy_n(hashes.data() + i * kHashBytes, kHashBytes, record.hash.begin());
    prev_hash = record.hash;
  }
  if (!plain.empty()) return Status(Code::kRecordDamaged, StrCat("data: ", plain.size(), " bytes too many"));
  return {};
}

void Segment::Compare(const char* field, int64_t got, int64_t expected) {
  if (got != expected) problems_.push_back(StrCat(field, ": expected ", expected, ", got ", got));
}

const ChainRecordView* Segment::Find(int64_t sequence) const {
  const auto found =
      std::lower_bound(records_.begin(), records_.end(), sequence,
                       [](const ChainRecordView& record, int64_t wanted) { return record.sequence < wanted; });
  return found != records_.end() && found->sequence == sequence ? &*found : nullptr;
}

}  // namespace braid::chains
