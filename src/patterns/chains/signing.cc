// Ed25519 keys (RFC 8032) by OpenSSL, the files that they are kept in, and hexadecimal both ways.
#include "patterns/chains/signing.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

#include "base/assert.h"
#include "braid/checkpoint.h"
#include "patterns/chains/merkle.h"

namespace braid::signing {
namespace {

Status FileError(const std::filesystem::path& path, std::string_view what) {
  return Status(Code::kOperationFailed, StrCat(what, " ", path.string(), ": ", std::strerror(errno)));
}

bool WriteAll(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return fsync(file) == 0;
}

/// 0 to 15, or -1.
int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

Result<std::string> BytesOfHex(std::string_view hex) {
  if (hex.size() % 2 != 0) return Status(Code::kFailedToParse, StrCat("an odd number (", hex.size(), ") of digits"));
  std::string bytes;
  bytes.reserve(hex.size() / 2);
  for (size_t i = 0; i < hex.size(); i += 2) {
    const int high = DigitOf(hex[i]), low = DigitOf(hex[i + 1]);
    if (high < 0 || low < 0) {
      return Status(Code::kFailedToParse,
                    StrCat("not a lower-case hexadecimal digit at position ", high < 0 ? i : i + 1));
    }
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  return bytes;
}

Status FillFromHex(std::string_view hex, std::span<uint8_t> out) {
  if (hex.size() != 2 * out.size()) {
    return Status(Code::kFailedToParse, StrCat("expected ", 2 * out.size(), " digits, got ", hex.size()));
  }
  BRAID_TRY(const std::string bytes, BytesOfHex(hex));
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return Status();
}

Status WriteNewFile(const std::filesystem::path& path, std::string_view text, mode_t mode) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (file < 0 && errno == EEXIST) {
    return Status(Code::kIllegalOperation, StrCat(path.string(), " exists already; a key is never overwritten"));
  }
  if (file < 0) return FileError(path, "cannot create");
  Status status;
  if (!WriteAll(file, text)) status = FileError(path, "cannot write");
  if (close(file) != 0 && status.ok()) status = FileError(path, "cannot close");
  if (!status.ok()) unlink(path.c_str());  // half a key is of no use, and would block the next attempt
  return status;
}

Result<std::string> ReadKeyFile(const std::filesystem::path& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return FileError(path, "cannot open");
  std::string text(kKeyFileBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return FileError(path, "cannot read");
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kKeyFileBytesMax) {
    return Status(Code::kFailedToParse, StrCat(path.string(), " is longer than ", kKeyFileBytesMax, " bytes: no key"));
  }
  return text;
}

}  // namespace braid::signing

namespace braid {
namespace {

template <auto release>
struct Releaser {
  template <typename T>
  void operator()(T* object) const {
    release(object);
  }
};
using KeyPtr = std::unique_ptr<EVP_PKEY, Releaser<EVP_PKEY_free>>;
using DigestPtr = std::unique_ptr<EVP_MD_CTX, Releaser<EVP_MD_CTX_free>>;
using BioPtr = std::unique_ptr<BIO, Releaser<BIO_free_all>>;

const uint8_t* Data(std::string_view bytes) { return reinterpret_cast<const uint8_t*>(bytes.data()); }

/// Without this callback OpenSSL would ask on the terminal for the password of an encrypted key.
int NoPassword(char*, int, int, void*) { return -1; }

KeyPtr PrivateHandle(const SigningKey::Seed& seed) {
  KeyPtr key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed.data(), seed.size()));
  BRAID_ASSERT(key != nullptr);
  return key;
}

/// Any 32 bytes are accepted; whether they are a point of the curve is checked when they are used.
KeyPtr PublicHandle(const PublicKey::Bytes& bytes) {
  KeyPtr key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes.data(), bytes.size()));
  BRAID_ASSERT(key != nullptr);
  return key;
}

PublicKey PublicKeyOf(const EVP_PKEY* key) {
  PublicKey::Bytes bytes;
  size_t size = bytes.size();
  BRAID_ASSERT(EVP_PKEY_get_raw_public_key(key, bytes.data(), &size) == 1 && size == bytes.size());
  return PublicKey(bytes);
}

/// `key` if it is an Ed25519 key, else what it is instead.
Result<KeyPtr> Ed25519Only(KeyPtr key, std::string_view wanted) {
  ERR_clear_error();
  if (key == nullptr) {
    return Status(Code::kFailedToParse, StrCat("this is not an unencrypted ", wanted, " key in PEM"));
  }
  if (EVP_PKEY_get_id(key.get()) != EVP_PKEY_ED25519) {
    const char* name = EVP_PKEY_get0_type_name(key.get());
    return Status(Code::kFailedToParse,
                  StrCat("this ", wanted, " key is of the kind ", name != nullptr ? name : "unknown", ", not ED25519"));
  }
  return key;
}

/// Only as much as a key file may have: OpenSSL counts in int. A pointer is needed even to nothing.
BioPtr ReadingFrom(std::string_view text) {
  text = text.empty() ? "" : text.substr(0, signing::kKeyFileBytesMax);
  BioPtr bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  BRAID_ASSERT(bio != nullptr);
  return bio;
}

std::string TextOf(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);  // NOLINT(google-runtime-int): OpenSSL's type
  return std::string(data, static_cast<size_t>(size));
}

}  // namespace

Result<PublicKey> PublicKey::FromHex(std::string_view hex) {
  Bytes bytes;
  if (const Status s = signing::FillFromHex(hex, bytes); !s.ok()) return s.CausedBy("public key");
  return PublicKey(bytes);
}

Result<PublicKey> PublicKey::FromPem(std::string_view pem) {
  const BioPtr bio = ReadingFrom(pem);
  BRAID_TRY(const KeyPtr key,
            Ed25519Only(KeyPtr(PEM_read_bio_PUBKEY(bio.get(), nullptr, NoPassword, nullptr)), "public"));
  return PublicKeyOf(key.get());
}

Result<PublicKey> PublicKey::ReadFile(const std::filesystem::path& path) {
  BRAID_TRY(const std::string pem, signing::ReadKeyFile(path));
  Result<PublicKey> key = FromPem(pem);
  if (!key.ok()) return key.error().CausedBy(path.string());
  return key;
}

Status PublicKey::WriteFile(const std::filesystem::path& path) const {
  return signing::WriteNewFile(path, ToPem(), 0644);
}

std::string PublicKey::ToHex() const { return signing::HexOf(bytes_); }

std::string PublicKey::ToPem() const {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  BRAID_ASSERT(bio != nullptr && PEM_write_bio_PUBKEY(bio.get(), PublicHandle(bytes_).get()) == 1);
  return TextOf(bio.get());
}

std::string PublicKey::Id() const {
  const Sha256Hash hash = merkle::Sha256({reinterpret_cast<const char*>(bytes_.data()), bytes_.size()});
  return signing::HexOf(std::span(hash).first(8));
}

bool PublicKey::Verify(std::string_view message, const Ed25519Signature& signature) const {
  const KeyPtr key = PublicHandle(bytes_);
  const DigestPtr context(EVP_MD_CTX_new());
  BRAID_ASSERT(context != nullptr && EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1);
  const bool valid =
      EVP_DigestVerify(context.get(), signature.data(), signature.size(), Data(message), message.size()) == 1;
  ERR_clear_error();
  return valid;
}

SigningKey::SigningKey(const Seed& seed) : seed_(seed), public_key_(PublicKeyOf(PrivateHandle(seed).get())) {}

SigningKey::~SigningKey() { OPENSSL_cleanse(seed_.data(), seed_.size()); }

SigningKey SigningKey::Generate() {
  Seed seed;
  BRAID_ASSERT(RAND_priv_bytes(seed.data(), static_cast<int>(seed.size())) == 1);
  SigningKey key(seed);
  OPENSSL_cleanse(seed.data(), seed.size());
  return key;
}

Result<SigningKey> SigningKey::FromPem(std::string_view pem) {
  const BioPtr bio = ReadingFrom(pem);
  BRAID_TRY(const KeyPtr handle,
            Ed25519Only(KeyPtr(PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassword, nullptr)), "private"));
  Seed seed;
  size_t size = seed.size();
  BRAID_ASSERT(EVP_PKEY_get_raw_private_key(handle.get(), seed.data(), &size) == 1 && size == seed.size());
  SigningKey key(seed);
  OPENSSL_cleanse(seed.data(), seed.size());
  return key;
}

Result<SigningKey> SigningKey::ReadFile(const std::filesystem::path& path) {
  BRAID_TRY(std::string pem, signing::ReadKeyFile(path));
  Result<SigningKey> key = FromPem(pem);
  OPENSSL_cleanse(pem.data(), pem.size());
  if (!key.ok()) return key.error().CausedBy(path.string());
  return key;
}

Status SigningKey::WriteFile(const std::filesystem::path& path) const {
  const BioPtr bio(BIO_new(BIO_s_secmem()));
  BRAID_ASSERT(bio != nullptr && PEM_write_bio_PrivateKey(bio.get(), PrivateHandle(seed_).get(), nullptr, nullptr, 0,
                                                          nullptr, nullptr) == 1);
  std::string pem = TextOf(bio.get());
  const Status status = signing::WriteNewFile(path, pem, 0600);
  OPENSSL_cleanse(pem.data(), pem.size());
  return status;
}

Ed25519Signature SigningKey::Sign(std::string_view message) const {
  const KeyPtr key = PrivateHandle(seed_);
  const DigestPtr context(EVP_MD_CTX_new());
  BRAID_ASSERT(context != nullptr && EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1);
  Ed25519Signature signature;
  size_t size = signature.size();
  BRAID_ASSERT(EVP_DigestSign(context.get(), signature.data(), &size, Data(message), message.size()) == 1);
  BRAID_ASSERT(size == signature.size());
  return signature;
}

}  // namespace braid
