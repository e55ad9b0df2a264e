#include "patterns/chains/hash.h"

#include <openssl/evp.h>
#include <xxhash.h>

#include <cstring>
#include <memory>

#include "base/assert.h"
#include "base/strings.h"
#include "patterns/chains/bytes.h"

namespace braid {
namespace {

// OpenSSL looks an algorithm up by name at every use unless it is fetched once; for short records that costs more than
// the hashing.
class Sha256 {
 public:
  Sha256() : algorithm_(EVP_MD_fetch(nullptr, "SHA256", nullptr)), context_(EVP_MD_CTX_new()) {
    BRAID_ASSERT(algorithm_ != nullptr && context_ != nullptr);
  }
  void Begin() { BRAID_ASSERT(EVP_DigestInit_ex2(context_.get(), algorithm_.get(), nullptr) == 1); }
  void Add(const void* bytes, size_t size) { BRAID_ASSERT(EVP_DigestUpdate(context_.get(), bytes, size) == 1); }
  ChainHash End() {
    ChainHash hash;
    BRAID_ASSERT(EVP_DigestFinal_ex(context_.get(), hash.data(), nullptr) == 1);
    return hash;
  }

 private:
  std::unique_ptr<EVP_MD, decltype([](EVP_MD* algorithm) { EVP_MD_free(algorithm); })> algorithm_;
  std::unique_ptr<EVP_MD_CTX, decltype([](EVP_MD_CTX* context) { EVP_MD_CTX_free(context); })> context_;
};

constexpr size_t kHeaderBytes = 72;
constexpr char kTag[16] = {'b', 'r', 'a', 'i', 'd', '.', 'c', 'h', 'a', 'i', 'n', '.', 'v', '1', 0, 0};

}  // namespace

ChainHash HashChainRecord(const ChainRecordView& record) {
  thread_local Sha256 sha;
  uint8_t header[kHeaderBytes];
  std::memcpy(header, kTag, sizeof(kTag));
  chains::Put64(header + 16, record.chain);
  chains::Put64(header + 24, record.sequence);
  std::memcpy(header + 32, record.prev_hash.data(), record.prev_hash.size());
  chains::Put32(header + 64, static_cast<uint32_t>(record.also.size()));
  chains::Put32(header + 68, static_cast<uint32_t>(record.payload.size()));
  sha.Begin();
  sha.Add(header, sizeof(header));
  for (const int64_t other : record.also) {
    uint8_t bytes[8];
    chains::Put64(bytes, other);
    sha.Add(bytes, sizeof(bytes));
  }
  sha.Add(record.payload.data(), record.payload.size());
  return sha.End();
}

int64_t chains::SealOf(std::string_view frame) { return static_cast<int64_t>(XXH3_64bits(frame.data(), frame.size())); }

std::string chains::HexOf(const ChainHash& hash) { return Hex(TextOf(hash)); }

}  // namespace braid
