// Keys against the vectors of RFC 8032, key files, and keys of other kinds.
#include "patterns/chains/signing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "patterns/chains/checkpoint_testing.h"

namespace braid {
namespace {

using testing::HasSubstr;

std::string Contents(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

struct Vector {
  const char* seed;
  const char* public_key;
  const char* message;
  const char* signature;
};

// RFC 8032, section 7.1, tests 1 to 3.
constexpr Vector kVectors[] = {
    {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe246"
     "55141438e7a100b"},
    {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb"
     "00d291612bb0c00"},
    {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
     "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc"
     "027beceea1ec40a"},
};

TEST(SigningTest, Rfc8032Vectors) {
  for (const Vector& vector : kVectors) {
    const SigningKey key(test::FromHex<32>(vector.seed));
    const std::string message = *signing::BytesOfHex(vector.message);
    EXPECT_EQ(key.public_key().ToHex(), vector.public_key);
    EXPECT_EQ(signing::HexOf(key.Sign(message)), vector.signature);
    EXPECT_TRUE(key.public_key().Verify(message, test::FromHex<64>(vector.signature)));
    EXPECT_FALSE(key.public_key().Verify(message + "x", test::FromHex<64>(vector.signature)));
    EXPECT_FALSE(test::KeyOf(1).public_key().Verify(message, test::FromHex<64>(vector.signature)));
  }
}

TEST(SigningTest, EveryBitOfASignatureMatters) {
  const SigningKey key = SigningKey::Generate();
  const Ed25519Signature signature = key.Sign("message");
  for (size_t bit = 0; bit < 8 * signature.size(); ++bit) {
    Ed25519Signature changed = signature;
    changed[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    EXPECT_FALSE(key.public_key().Verify("message", changed)) << bit;
  }
}

// The id and the PEM were computed by sha256sum and the openssl program.
TEST(SigningTest, PublicKeyKnownAnswers) {
  const PublicKey key = *PublicKey::FromHex(kVectors[0].public_key);
  EXPECT_EQ(key.Id(), "21fe31dfa154a261");
  EXPECT_EQ(key.ToPem(),
            "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n"
            "-----END PUBLIC KEY-----\n");
  const Result<SigningKey> pem = SigningKey::FromPem(
      "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n"
      "-----END PRIVATE KEY-----\n");
  ASSERT_OK(pem);
  EXPECT_EQ(pem->public_key(), key);
}

TEST(SigningTest, KeyFilesComeBack) {
  const test::TemporaryDirectory directory;
  const SigningKey key = SigningKey::Generate();
  const auto secret = directory.path() / "key.pem", open = directory.path() / "key.pub.pem";
  ASSERT_OK(key.WriteFile(secret));
  ASSERT_OK(key.public_key().WriteFile(open));
  struct stat info {};
  ASSERT_EQ(stat(secret.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  const Result<SigningKey> back = SigningKey::ReadFile(secret);
  ASSERT_OK(back);
  EXPECT_EQ(back->public_key(), key.public_key());
  EXPECT_EQ(back->Sign("x"), key.Sign("x"));
  const Result<PublicKey> public_back = PublicKey::ReadFile(open);
  ASSERT_OK(public_back);
  EXPECT_EQ(*public_back, key.public_key());
  EXPECT_NE(SigningKey::Generate().public_key(), key.public_key());
}

TEST(SigningTest, KeyFileIsNeverOverwritten) {
  const test::TemporaryDirectory directory;
  const auto path = directory.path() / "key.pem";
  ASSERT_OK(test::KeyOf(1).WriteFile(path));
  const std::string before = Contents(path);
  const Status again = test::KeyOf(2).WriteFile(path);
  EXPECT_EQ(again.code(), Code::kIllegalOperation);
  EXPECT_THAT(std::string(again.message()), HasSubstr("key.pem exists already"));
  EXPECT_EQ(test::KeyOf(2).public_key().WriteFile(path).code(), Code::kIllegalOperation);
  EXPECT_EQ(Contents(path), before);
  std::filesystem::create_symlink(directory.path() / "elsewhere", directory.path() / "link");
  EXPECT_EQ(test::KeyOf(2).WriteFile(directory.path() / "link").code(), Code::kIllegalOperation);
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "elsewhere"));
}

TEST(SigningTest, FilesThatAreNoKeysAreNamed) {
  const test::TemporaryDirectory directory;
  const auto path = directory.path() / "some.pem";
  EXPECT_THAT(SigningKey::ReadFile(path).status().ToString(), HasSubstr("cannot open"));
  EXPECT_EQ(test::KeyOf(1).WriteFile(directory.path() / "none" / "key").code(), Code::kOperationFailed);
  ASSERT_OK(test::KeyOf(1).public_key().WriteFile(path));
  const Status status = SigningKey::ReadFile(path).status();  // a public key does not sign
  EXPECT_EQ(status.code(), Code::kFailedToParse);
  EXPECT_THAT(std::string(status.message()), HasSubstr("some.pem"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("not an unencrypted private key"));
  EXPECT_EQ(SigningKey::FromPem("").status().code(), Code::kFailedToParse);
  EXPECT_EQ(PublicKey::FromPem({}).status().code(), Code::kFailedToParse);
  std::ofstream(directory.path() / "long") << std::string(100'000, 'x');
  EXPECT_THAT(PublicKey::ReadFile(directory.path() / "long").status().ToString(), HasSubstr("longer than 65536"));
}

TEST(SigningTest, KeysOfAnotherKindAreRefused) {
  EVP_PKEY* curve = EVP_EC_gen("P-256");
  BIO* bio = BIO_new(BIO_s_mem());
  ASSERT_EQ(PEM_write_bio_PrivateKey(bio, curve, nullptr, nullptr, 0, nullptr, nullptr), 1);
  ASSERT_EQ(PEM_write_bio_PUBKEY(bio, curve), 1);
  char* data = nullptr;
  const auto size = static_cast<size_t>(BIO_get_mem_data(bio, &data));
  const std::string both(data, size);
  BIO_free(bio);
  EVP_PKEY_free(curve);
  EXPECT_THAT(SigningKey::FromPem(both).status().ToString(), HasSubstr("private key is of the kind EC, not ED25519"));
  EXPECT_THAT(PublicKey::FromPem(both).status().ToString(), HasSubstr("public key is of the kind EC, not ED25519"));
}

// It must not ask the terminal for a password.
TEST(SigningTest, EncryptedKeyIsRefused) {
  EVP_PKEY* key = EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
  BIO* bio = BIO_new(BIO_s_mem());
  const unsigned char password[] = "secret";
  ASSERT_EQ(PEM_write_bio_PrivateKey(bio, key, EVP_aes_256_cbc(), password, 6, nullptr, nullptr), 1);
  char* data = nullptr;
  const auto size = static_cast<size_t>(BIO_get_mem_data(bio, &data));
  const std::string pem(data, size);
  BIO_free(bio);
  EVP_PKEY_free(key);
  EXPECT_THAT(SigningKey::FromPem(pem).status().ToString(), HasSubstr("not an unencrypted private key"));
}

TEST(SigningTest, HexIsReadInOneSpellingOnly) {
  EXPECT_EQ(*signing::BytesOfHex("00ff10"), std::string("\x00\xff\x10", 3));
  EXPECT_EQ(signing::BytesOfHex("0").status().message(), "an odd number (1) of digits");
  EXPECT_EQ(signing::BytesOfHex("00F0").status().message(), "not a lower-case hexadecimal digit at position 2");
  EXPECT_EQ(signing::BytesOfHex("0g").status().message(), "not a lower-case hexadecimal digit at position 1");
  EXPECT_THAT(PublicKey::FromHex("00").status().ToString(), HasSubstr("expected 64 digits, got 2"));
}

}  // namespace
}  // namespace braid
