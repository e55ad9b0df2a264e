// Checkpoints of hash chains: a signed statement of where every chain stood, kept outside the store, which proves later
// that history was not rewritten (CheckAgainst) and that one record was part of it (VerifyInclusion). Everything here
// is a pure function of its arguments, except what reads or writes a key file: any thread, and nothing to close.
//
//   const SigningKey key = SigningKey::Generate();
//   BRAID_TRY(const Checkpoint made, MakeCheckpoint({.store = "ledger", .created_at_ms = now, .heads = heads}, key));
//   const std::string text = ToJson(made);                         // kept elsewhere; years later:
//   BRAID_TRY(const Checkpoint kept, ParseCheckpoint(text));
//   BRAID_CHECK_OK(CheckAgainst(kept, key.public_key(), hash_of)); // kChainBroken names what was rewritten
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/status.h"

namespace braid {

using Sha256Hash = std::array<uint8_t, 32>;
using Ed25519Signature = std::array<uint8_t, 64>;

/// What signatures are checked with: an Ed25519 public key.
class PublicKey {
 public:
  using Bytes = std::array<uint8_t, 32>;

  explicit PublicKey(const Bytes& bytes) : bytes_(bytes) {}
  /// 64 lower-case hexadecimal digits; kFailedToParse.
  static Result<PublicKey> FromHex(std::string_view hex);
  /// "-----BEGIN PUBLIC KEY-----"; kFailedToParse, also if it is a key of another kind.
  static Result<PublicKey> FromPem(std::string_view pem);
  static Result<PublicKey> ReadFile(const std::filesystem::path& path);
  /// Writes PEM to a new file; kIllegalOperation if there is one already.
  Status WriteFile(const std::filesystem::path& path) const;

  const Bytes& bytes() const { return bytes_; }
  std::string ToHex() const;
  std::string ToPem() const;
  /// A short name of the key: the first 8 bytes of its SHA-256, as 16 hexadecimal digits.
  std::string Id() const;
  bool Verify(std::string_view message, const Ed25519Signature& signature) const;

  bool operator==(const PublicKey&) const = default;

 private:
  Bytes bytes_;
};

/// What checkpoints are signed with: an Ed25519 private key. Its bytes are wiped from memory with it.
class SigningKey {
 public:
  using Seed = std::array<uint8_t, 32>;

  static SigningKey Generate();
  explicit SigningKey(const Seed& seed);
  SigningKey(const SigningKey&) = default;
  SigningKey& operator=(const SigningKey&) = default;
  ~SigningKey();

  /// "-----BEGIN PRIVATE KEY-----" without a password; kFailedToParse, also if it is a key of another kind.
  static Result<SigningKey> FromPem(std::string_view pem);
  static Result<SigningKey> ReadFile(const std::filesystem::path& path);
  /// Writes PEM to a new file that only its owner may read (mode 0600); kIllegalOperation if there is one already.
  Status WriteFile(const std::filesystem::path& path) const;

  const PublicKey& public_key() const { return public_key_; }
  Ed25519Signature Sign(std::string_view message) const;

 private:
  Seed seed_;
  PublicKey public_key_;
};

/// Where a chain stood.
struct CheckpointHead {
  int64_t chain = 0;
  int64_t sequence = 0;  ///< Of its last record; never negative.
  Sha256Hash hash{};     ///< Of its last record.
  int64_t records = 0;   ///< How many it has; never negative. 0 in a checkpoint of version 1, as is the next.
  Sha256Hash tree{};     ///< The root of its tree (braid/chain_tree.h).
  bool operator==(const CheckpointHead&) const = default;
};

/// The version of new checkpoints. Version 1, without trees, is still read and checked, because old checkpoints prove
/// history.
constexpr int64_t kCheckpointVersion = 2;
/// The most chains in a checkpoint: as many as fit in the longest JSON text that can be read (128 MiB).
constexpr size_t kCheckpointChainsMax = 500'000;

/// What is signed. It commits to every head through the root, so that a proof need not carry them all.
///
/// Signed bytes, integers big-endian and signed ones in two's complement:
///
///      0  16  "braid checkpoint" in ASCII
///     16   4  version, 1 or 2
///     20   8  sequence
///     28   8  created_at in milliseconds since 1970
///     36   8  number of chains
///     44  32  Merkle root
///     76   4  length of the store's name in bytes
///     80   …  the store's name in UTF-8
///
/// The root is that of RFC 6962, section 2.1, with SHA-256. Leaf i is the head of the i-th chain in ascending order of
/// chain ids, as 88 bytes; version 1 has the first 48 of them:
///
///      0   8  chain
///      8   8  sequence
///     16  32  hash
///     48   8  number of records
///     56  32  root of the chain's tree
struct SignedStatement {
  int64_t version = kCheckpointVersion;
  std::string store;          ///< Which store it is about: 1 to 1024 bytes of UTF-8 without NUL.
  int64_t sequence = 0;       ///< The highest of all heads; 0 if there is no chain.
  int64_t created_at_ms = 0;  ///< By the signer's clock.
  int64_t chain_count = 0;
  Sha256Hash root{};
  std::string key_id;  ///< PublicKey::Id() of the signer; not signed, but checked against the key.
  Ed25519Signature signature{};

  bool operator==(const SignedStatement&) const = default;
  /// The signed bytes, as above.
  std::string Bytes() const;
  /// OK if `key` signed exactly this; kUnsupportedFormat, kBadValue or kAuthenticationFailed.
  Status Verify(const PublicKey& key) const;
};

struct Checkpoint {
  SignedStatement statement;
  std::vector<CheckpointHead> heads;  ///< Ascending by chain, each chain once.

  bool operator==(const Checkpoint&) const = default;
  /// OK if the heads are those of the statement and `key` signed it. kChainBroken if the heads do not fit the
  /// statement.
  Status Verify(const PublicKey& key) const;
};

struct CheckpointInput {
  std::string store;
  int64_t created_at_ms = 0;
  std::vector<CheckpointHead> heads;  ///< In any order; each chain once, or kBadValue.
};
Result<Checkpoint> MakeCheckpoint(CheckpointInput input, const SigningKey& key);

/// One line of JSON with hashes in hexadecimal.
std::string ToJson(const Checkpoint& checkpoint);
/// Reads a checkpoint and checks that its heads match its statement, but not the signature: Verify does that. An
/// unknown version is kUnsupportedFormat; a field that is missing, unknown, there twice or malformed kFailedToParse;
/// heads that do not fit the statement kChainBroken.
Result<Checkpoint> ParseCheckpoint(std::string_view json);

/// The hash of a record as the log has it now, nothing if there is no such record, or an error if it cannot be read.
using HashLookup = std::function<Result<std::optional<Sha256Hash>>(int64_t chain, int64_t sequence)>;

/// OK if `key` signed the checkpoint and the log still has every head of it. kChainBroken names each chain whose
/// history changed (the first ten, and how many in all): sequence, hash expected, hash found. Only the heads are
/// compared: Chains::Verify() checks that the records before a head lead to its hash.
Status CheckAgainst(const Checkpoint& checkpoint, const PublicKey& key, const HashLookup& now);

/// Everything that the hash of a record commits to. Valid during the call only.
struct HashedFields {
  int64_t chain = 0;
  int64_t sequence = 0;
  Sha256Hash prev_hash{};
  std::span<const int64_t> also;  ///< Other chains that carry the record: ascending, each once, without `chain`.
  std::string_view payload;
};
/// Computes a record's hash; passed in because the chains define the encoding that is hashed. It must be collision-free
/// in all fields, and the hashed bytes must not begin with 0x01, as those of an inner node do.
using RecordHash = std::function<Sha256Hash(const HashedFields& record)>;

struct ProvenRecord {
  int64_t chain = 0;
  int64_t sequence = 0;
  Sha256Hash prev_hash{};
  std::vector<int64_t> also;
  std::string payload;
  bool operator==(const ProvenRecord&) const = default;
};

/// Proves that a record was in its chain when a checkpoint was made. The record's hash and the path through the chain's
/// tree give the root of that tree; the chain's head with that root and the path through the checkpoint's tree give the
/// signed root. The proof is self-contained and reveals only hashes of other records.
struct InclusionProof {
  SignedStatement statement;
  ProvenRecord record;
  int64_t record_index = 0;             ///< The number of records before it in its chain.
  std::vector<Sha256Hash> record_path;  ///< Siblings from the record's hash upwards.
  int64_t head_sequence = 0;            ///< Of the chain's last record in the checkpoint, as are the next two.
  Sha256Hash head_hash{};
  int64_t records = 0;
  int64_t head_index = 0;             ///< Of the chain among all chains of the checkpoint.
  std::vector<Sha256Hash> head_path;  ///< Siblings from the chain's leaf upwards.
  bool operator==(const InclusionProof&) const = default;
};

/// Where a record is in its chain's tree.
struct RecordPlace {
  int64_t index = 0;
  std::vector<Sha256Hash> path;
};

/// kChainBroken if the record and its place do not lead to the chain's root in the checkpoint, kBadValue if that has no
/// such chain, kUnsupportedFormat if it is of version 1.
Result<InclusionProof> MakeInclusionProof(const Checkpoint& checkpoint, ProvenRecord record, RecordPlace place,
                                          const RecordHash& hash_of);

/// OK only if `key` signed a checkpoint that includes the record. A pure function: no store, no clock, no file. The
/// holder of a checkpoint can compare its statement with the proof's to see that both are the same checkpoint.
Status VerifyInclusion(const InclusionProof& proof, const PublicKey& key, const RecordHash& hash_of);

std::string ToJson(const InclusionProof& proof);
/// As strict as ParseCheckpoint. Does not check the proof: VerifyInclusion does. Proofs of version 1, which carried all
/// later records, are kUnsupportedFormat.
Result<InclusionProof> ParseInclusionProof(std::string_view json);

}  // namespace braid
