// What the tests of checkpoints and proofs share: chains of random records with a hash of their own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/strings.h"
#include "base/testing/testing.h"
#include "braid/checkpoint.h"
#include "patterns/chains/merkle.h"
#include "patterns/chains/signing.h"

namespace braid::test {

inline SigningKey KeyOf(uint8_t number) {
  SigningKey::Seed seed{};
  seed[0] = number;
  return SigningKey(seed);
}

template <size_t size>
std::array<uint8_t, size> FromHex(std::string_view hex) {
  std::array<uint8_t, size> bytes{};
  EXPECT_OK(signing::FillFromHex(hex, bytes));
  return bytes;
}

/// Not the encoding of Braid's chains: proofs must not depend on it.
inline Sha256Hash TestHash(const HashedFields& record) {
  std::string bytes = StrCat(record.chain, "|", record.sequence, "|", signing::HexOf(record.prev_hash), "|");
  for (const int64_t other : record.also) bytes += StrCat(other, ",");
  return merkle::Sha256(StrCat(bytes, "|", record.payload));
}

inline Sha256Hash TestHash(const ProvenRecord& record) {
  return TestHash(HashedFields{.chain = record.chain,
                               .sequence = record.sequence,
                               .prev_hash = record.prev_hash,
                               .also = record.also,
                               .payload = record.payload});
}

/// As proofs take it.
inline const RecordHash kTestHash = [](const HashedFields& record) { return TestHash(record); };

/// Chains with some records each, and the checkpoint over their heads.
class TestLog {
 public:
  TestLog(Random& random, size_t chain_count, size_t records_max) {
    std::vector<CheckpointHead> heads;
    int64_t chain = -3;
    for (size_t i = 0; i < chain_count; ++i) {
      chain += 1 + static_cast<int64_t>(random.Below(5));
      heads.push_back(Fill(random, chain, 1 + random.Below(records_max)));
    }
    checkpoint = *MakeCheckpoint({.store = "tést", .created_at_ms = 1'700'000'000'000, .heads = heads}, KeyOf(1));
  }

  /// Of record `index` of a chain of the log.
  Result<InclusionProof> Prove(int64_t chain, size_t index) const {
    const std::vector<ProvenRecord>& records = chains.at(chain);
    std::vector<Sha256Hash> hashes;
    hashes.reserve(records.size());
    for (const ProvenRecord& record : records) hashes.push_back(TestHash(record));
    return MakeInclusionProof(checkpoint, records[index],
                              {.index = static_cast<int64_t>(index), .path = merkle::Path(hashes, index)}, kTestHash);
  }

  std::map<int64_t, std::vector<ProvenRecord>> chains;
  Checkpoint checkpoint;

 private:
  CheckpointHead Fill(Random& random, int64_t chain, size_t count) {
    CheckpointHead head = {.chain = chain};
    std::vector<Sha256Hash> hashes;
    for (size_t i = 0; i < count; ++i) {
      head.sequence += 1 + static_cast<int64_t>(random.Below(3));
      ProvenRecord record = {.chain = chain, .sequence = head.sequence, .prev_hash = head.hash};
      if (random.Chance(1, 3)) record.also = {chain + 1, chain + 4};
      for (size_t left = random.Below(6); left > 0; --left) record.payload.push_back(static_cast<char>(random.Next()));
      head.hash = TestHash(record);
      hashes.push_back(head.hash);
      chains[chain].push_back(record);
    }
    head.records = static_cast<int64_t>(count);
    head.tree = merkle::Root(hashes);
    return head;
  }
};

}  // namespace braid::test
