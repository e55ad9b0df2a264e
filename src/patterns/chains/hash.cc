#include "patterns/chains/hash.h"

#include <xxhash.h>

#include <cstring>

#include "base/big_endian.h"
#include "base/strings.h"

namespace braid {
namespace {

constexpr size_t kHeaderBytes = 72;
constexpr char kTag[16] = {'b', 'r', 'a', 'i', 'd', '.', 'c', 'h', 'a', 'i', 'n', '.', 'v', '1', 0, 0};

}  // namespace

ChainHash HashChainRecord(const ChainRecordView& record) {
  thread_local chains::Sha256Stream sha;
  uint8_t header[kHeaderBytes];
  std::memcpy(header, kTag, sizeof(kTag));
  big_endian::Put64(header + 16, record.chain);
  big_endian::Put64(header + 24, record.sequence);
  std::memcpy(header + 32, record.prev_hash.data(), record.prev_hash.size());
  big_endian::Put32(header + 64, static_cast<uint32_t>(record.also.size()));
  big_endian::Put32(header + 68, static_cast<uint32_t>(record.payload.size()));
  sha.Begin();
  sha.Add(header, sizeof(header));
  for (const int64_t other : record.also) {
    uint8_t bytes[8];
    big_endian::Put64(bytes, other);
    sha.Add(bytes, sizeof(bytes));
  }
  sha.Add(record.payload.data(), record.payload.size());
  return sha.End();
}

int64_t chains::SealOf(std::string_view frame) { return static_cast<int64_t>(XXH3_64bits(frame.data(), frame.size())); }

std::string chains::HexOf(const ChainHash& hash) { return Hex(TextOf(hash)); }

}  // namespace braid
