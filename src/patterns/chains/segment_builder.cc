#include <zstd.h>

#include <memory>

#include "base/assert.h"
#include "base/strings.h"
#include "patterns/chains/bytes.h"
#include "patterns/chains/hash.h"
#include "patterns/chains/segment.h"
#include "patterns/chains/segment_format.h"

namespace braid::chains {
namespace {

using Compressor = std::unique_ptr<ZSTD_CCtx, decltype([](ZSTD_CCtx* context) { ZSTD_freeCCtx(context); })>;

// Appends the compressed bytes to `to`; false, with `to` as it was, if they are hardly fewer: every
// reader has to decompress them. Headers alone make random payloads shrink.
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
  Append64(plain_, record.sequence);
  Append32(plain_, static_cast<uint32_t>(record.also.size()));
  Append32(plain_, static_cast<uint32_t>(record.payload.size()));
  for (const int64_t other : record.also) Append64(plain_, other);
  plain_.append(record.payload);
}

void SegmentBuilder::Finish(const Stamp& stamp, client::Bson& document) const {
  BRAID_ASSERT(!empty());
  const auto count = static_cast<int64_t>(sequences_.size());
  std::string data;
  data.push_back(static_cast<char>(kVersion));
  data.push_back(static_cast<char>(kZstandard));
  data.append(2, '\0');
  Append32(data, static_cast<uint32_t>(count));
  Append32(data, static_cast<uint32_t>(plain_.size()));
  Append64(data, chain_);
  Append64(data, stamp.epoch);
  Append64(data, stamp.created_at);
  Append64(data, 0);
  data.append(hashes_);
  const size_t packed_at = data.size();
  if (stamp.compression_level != 0 && Compress(plain_, stamp.compression_level, data)) {
    const int64_t seal = SealOf(std::string_view(data).substr(packed_at));
    Put64(reinterpret_cast<uint8_t*>(data.data()) + kSealAt, seal);
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

}  // namespace braid::chains
