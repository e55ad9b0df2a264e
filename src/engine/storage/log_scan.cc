#include "engine/storage/log_scan.h"

#include <rocksdb/write_batch.h>

#include <algorithm>
#include <boost/crc.hpp>
#include <cstring>

#include "base/assert.h"

namespace braid::storage {
namespace {

constexpr size_t kHeaderBytes = 7;         // of a record
constexpr size_t kCommitHeaderBytes = 12;  // sequence and count
constexpr uint8_t kLogDataTag = 3;         // RocksDB's tag of bytes in a batch that are for the log only
constexpr size_t kMarkBytes = 2 + sizeof(LogMark);

enum Part : uint8_t { kWhole = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

template <typename Number>
Number Load(const char* at) {
  Number number;
  std::memcpy(&number, at, sizeof(number));
  return number;
}

}  // namespace

struct LogScan::Record {
  Part part;
  std::string_view bytes;
};

/// The record at this place of a block, if there is a sound one.
std::optional<LogScan::Record> LogScan::RecordAt(std::string_view block, size_t at) {
  const size_t length = Load<uint16_t>(block.data() + at + 4);
  const auto part = static_cast<uint8_t>(block[at + 6]);
  if (part < kWhole || part > kLast || at + kHeaderBytes + length > block.size()) return std::nullopt;
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(block.data() + at + 6, 1 + length);
  const uint32_t sum = crc.checksum();
  const uint32_t masked = ((sum >> 15) | (sum << 17)) + 0xa282ead8u;  // RocksDB stores it so
  if (masked != Load<uint32_t>(block.data() + at)) return std::nullopt;
  return Record{static_cast<Part>(part), block.substr(at + kHeaderBytes, length)};
}

void LogScan::Block(std::string_view block) {
  BRAID_ASSERT(block.size() <= kBlockBytes && size_ % kBlockBytes == 0);  // only the last block is shorter
  size_t at = 0;
  while (at + kHeaderBytes <= block.size()) {
    const auto record = RecordAt(block, at);
    if (!record) {
      lost_ = true;
      ++at;  // from here on only to find what comes after the damage
      continue;
    }
    at += kHeaderBytes + record->bytes.size();
    Take(*record, size_ + at);
  }
  size_ += block.size();
}

void LogScan::Take(const Record& record, uint64_t end) {
  const bool begins = record.part == kWhole || record.part == kFirst;
  if (begins == open_) lost_ = true;  // a part is missing
  if (begins) {
    head_.clear();
    tail_.clear();
  }
  head_.append(record.bytes.substr(0, kCommitHeaderBytes - std::min(kCommitHeaderBytes, head_.size())));
  tail_.append(record.bytes.substr(record.bytes.size() - std::min(kMarkBytes, record.bytes.size())));
  if (tail_.size() > kMarkBytes) tail_.erase(0, tail_.size() - kMarkBytes);
  open_ = record.part == kFirst || record.part == kMiddle;
  if (!open_) Commit(end);
}

void LogScan::Commit(uint64_t end) {
  if (!lost_ && head_.size() == kCommitHeaderBytes) {
    const auto sequence = Load<LogPosition>(head_.data());
    if (next_ == 0 || sequence == next_ || whole_ == 0) {  // an older log may be gone: only within a file
      if (whole_ == 0) first_ = sequence;
      next_ = sequence + Load<uint32_t>(head_.data() + 8);
      BRAID_ASSERT(end > whole_);
      whole_ = end;
      return;
    }
  }
  lost_ = true;
  const auto mark = Mark();
  if (!mark || mark->durable >= std::max(next_, mark->first)) damaged_ = true;  // without a mark it is not known
}

std::optional<LogMark> LogScan::Mark() const {
  if (tail_.size() < kMarkBytes || tail_[0] != kLogDataTag || tail_[1] != sizeof(LogMark)) return std::nullopt;
  return Load<LogMark>(tail_.data() + 2);
}

void AppendMark(rocksdb::WriteBatch& batch, const LogMark& mark) {
  const rocksdb::Status status = batch.PutLogData({reinterpret_cast<const char*>(&mark), sizeof(mark)});
  BRAID_ASSERT(status.ok());  // a batch in memory
}

}  // namespace braid::storage
