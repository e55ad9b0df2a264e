// Hashes of chains: SHA-256 of several pieces, the hash of a record from its canonical bytes (braid/chains.h), and the
// seal of compressed records.
#pragma once

#include <openssl/evp.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "braid/chains.h"
#include "braid/checkpoint.h"

namespace braid::chains {

constexpr ChainHash kGenesis{};

inline std::string_view TextOf(const ChainHash& hash) {
  return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}
/// 64 hexadecimal digits.
std::string HexOf(const ChainHash& hash);

/// XXH3 of compressed records. Other frames give the same records, so that the records' own hashes alone would not show
/// every changed bit; a frame that is changed on purpose changes no record.
int64_t SealOf(std::string_view frame);

/// SHA-256 of several pieces. OpenSSL looks an algorithm up by name at every use unless it is fetched once, and asks
/// for memory unless its context is kept; for short texts both cost more than the hashing. So a thread keeps one in a
/// thread_local. One thread at a time.
class Sha256Stream {
 public:
  Sha256Stream() : algorithm_(EVP_MD_fetch(nullptr, "SHA256", nullptr)), context_(EVP_MD_CTX_new()) {
    BRAID_ASSERT(algorithm_ != nullptr && context_ != nullptr);
  }
  void Begin() { BRAID_ASSERT(EVP_DigestInit_ex2(context_.get(), algorithm_.get(), nullptr) == 1); }
  void Add(const void* bytes, size_t size) { BRAID_ASSERT(EVP_DigestUpdate(context_.get(), bytes, size) == 1); }
  Sha256Hash End() {
    Sha256Hash hash;
    BRAID_ASSERT(EVP_DigestFinal_ex(context_.get(), hash.data(), nullptr) == 1);
    return hash;
  }

 private:
  std::unique_ptr<EVP_MD, decltype([](EVP_MD* algorithm) { EVP_MD_free(algorithm); })> algorithm_;
  std::unique_ptr<EVP_MD_CTX, decltype([](EVP_MD_CTX* context) { EVP_MD_CTX_free(context); })> context_;
};

}  // namespace braid::chains
