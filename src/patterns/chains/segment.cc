// SegmentBuilder makes the document of a segment, Segment takes it apart again.
#include "patterns/chains/segment.h"

#include <zstd.h>

#include <algorithm>
#include <memory>

#include "base/assert.h"
#include "base/big_endian.h"
#include "base/strings.h"
#include "patterns/chains/hash.h"

namespace braid::chains {
namespace {

using Compressor = std::unique_ptr<ZSTD_CCtx, decltype([](ZSTD_CCtx* context) { ZSTD_freeCCtx(context); })>;
using Decompressor = std::unique_ptr<ZSTD_DCtx, decltype([](ZSTD_DCtx* context) { ZSTD_freeDCtx(context); })>;

// The header and the records of a segment's data: what its writer and its reader must agree on (braid/chains.h).
constexpr uint8_t kVersion = 2;
constexpr uint8_t kPlain = 0;
constexpr uint8_t kZstandard = 1;
constexpr size_t kSealAt = 36;
constexpr size_t kHeaderBytes = 44;
constexpr size_t kHashBytes = 32;
constexpr size_t kRecordHeaderBytes = 16;

// Appends the compressed bytes to `to`; false, with `to` unchanged, if that hardly saves anything, because every reader
// has to decompress it. (The headers alone make segments with random payloads a little smaller.)
bool Compress(const std::string& plain, int level, std::string& to) {
  thread_local const Compressor context(ZSTD_createCCtx());
  BRAID_ASSERT(context != nullptr);
  const size_t before = to.size();
  to.resize(before + ZSTD_compressBound(plain.size()));
  const size_t size =
      ZSTD_compressCCtx(context.get(), to.data() + before, to.size() - before, plain.data(), plain.size(), level);
  const bool smaller = ZSTD_isError(size) == 0 && size < plain.size() - plain.size() / 8;
  to.resize(before + (smaller ? size : 0));
  return smaller;
}

}  // namespace

std::string SegmentId(int64_t chain, int64_t first_sequence) {
  const std::string digits = StrCat(first_sequence);
  return StrCat(chain, ":", std::string(digits.size() < 19 ? 19 - digits.size() : 0, '0'), digits);
}

void SegmentBuilder::Clear() {
  sequences_.clear();
  hashes_.clear();
  plain_.clear();
}

void SegmentBuilder::Add(const ChainRecordView& record) {
  if (empty()) {
    chain_ = record.chain;
    prev_hash_ = record.prev_hash;
  }
  sequences_.push_back(record.sequence);
  hashes_.append(TextOf(record.hash));
  big_endian::Append64(plain_, record.sequence);
  big_endian::Append32(plain_, static_cast<uint32_t>(record.also.size()));
  big_endian::Append32(plain_, static_cast<uint32_t>(record.payload.size()));
  for (const int64_t other : record.also) big_endian::Append64(plain_, other);
  plain_.append(record.payload);
}

void SegmentBuilder::Finish(const Stamp& stamp, client::Bson& document) const {
  BRAID_ASSERT(!empty() && hashes_.size() == sequences_.size() * kHashBytes);
  const auto count = static_cast<int64_t>(sequences_.size());
  std::string data;
  data.push_back(static_cast<char>(kVersion));
  data.push_back(static_cast<char>(kZstandard));
  data.append(2, '\0');
  big_endian::Append32(data, static_cast<uint32_t>(count));
  big_endian::Append32(data, static_cast<uint32_t>(plain_.size()));
  big_endian::Append64(data, chain_);
  big_endian::Append64(data, stamp.epoch);
  big_endian::Append64(data, stamp.created_at);
  big_endian::Append64(data, 0);
  data.append(hashes_);
  const size_t packed_at = data.size();
  if (stamp.compression_level != 0 && Compress(plain_, stamp.compression_level, data)) {
    const int64_t seal = SealOf(std::string_view(data).substr(packed_at));
    big_endian::Put64(reinterpret_cast<uint8_t*>(data.data()) + kSealAt, seal);
  } else {
    data[1] = static_cast<char>(kPlain);
    data.append(plain_);
  }
  document.Text("_id", SegmentId(chain_, sequences_.front())).Integer("symbol_id", chain_);
  document.Integer("first_seq", sequences_.front()).Integer("last_seq", sequences_.back()).Integer("count", count);
  document.Binary("prev_hash", TextOf(prev_hash_));
  document.Binary("hash", std::string_view(hashes_).substr(hashes_.size() - kHashBytes));
  document.Integer("epoch", stamp.epoch).Date("created_at", stamp.created_at).Binary("data", data);
}

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

// Exactly these fields, each once and of its type.
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
  const uint32_t count = big_endian::Get32(data_.data() + 4);
  const uint32_t plain_size = big_endian::Get32(data_.data() + 8);
  Compare("count", count_, count);
  Compare("symbol_id", chain_, big_endian::Get64(data_.data() + 12));
  Compare("epoch", epoch_, big_endian::Get64(data_.data() + 20));
  Compare("created_at", created_at_, big_endian::Get64(data_.data() + 28));
  const int64_t seal = big_endian::Get64(data_.data() + kSealAt);
  const std::string_view rest = data_.substr(kHeaderBytes);
  if (count == 0 || count > rest.size() / kHashBytes) return damaged(StrCat("no room for ", count, " hashes"));
  const std::string_view hashes = rest.substr(0, count * kHashBytes);
  BRAID_ASSERT(hashes.size() == count * kHashBytes);
  const std::string_view packed = rest.substr(hashes.size());
  if (codec == kPlain) {
    if (seal != 0) problems_.emplace_back("data: a seal where nothing is compressed");
    if (packed.size() != plain_size) return damaged(StrCat("expected ", plain_size, " bytes, got ", packed.size()));
    return ReadRecords(packed, count, hashes);
  }
  if (seal != SealOf(packed)) return damaged("the compressed bytes were changed");
  // The frame states its size, too. A false size must not make us allocate memory.
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
    record.sequence = big_endian::Get64(plain.data());
    const size_t others = big_endian::Get32(plain.data() + 8);
    const size_t payload_size = big_endian::Get32(plain.data() + 12);
    plain.remove_prefix(kRecordHeaderBytes);
    if (others > plain.size() / sizeof(int64_t) || payload_size > plain.size() - others * sizeof(int64_t)) {
      return damaged(i, "is cut off");
    }
    const size_t first_other = also_.size();
    for (size_t other = 0; other < others; ++other)
      also_.push_back(big_endian::Get64(plain.data() + other * sizeof(int64_t)));
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
