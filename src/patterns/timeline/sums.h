// What the record of an epoch sums up: running sums of integers of any size, stored as decimal text, and digests, which
// stand for the documents of an epoch and for a whole chain.
#pragma once

#include <mongoc/mongoc.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace braid::timeline {

/// a + b and a - b; nothing if one of them is not an integer in decimal, with an optional minus.
std::optional<std::string> AddDecimals(std::string_view a, std::string_view b);
std::optional<std::string> SubtractDecimals(std::string_view a, std::string_view b);

/// The sum of the SHA-256 of documents, modulo 2^256: the same in whatever order they are added.
class DocumentSum {
 public:
  void Add(std::string_view collection, const bson_t& document);
  /// 32 bytes, the most significant first.
  std::string bytes() const;

 private:
  std::array<uint64_t, 4> words_{};  // the least significant first
};

/// What the digest of an epoch is made from: SHA-256 of the digest before, its number, its hash and its documents. All
/// numbers big-endian, texts with their length before them; before the first epoch there are 32 zero bytes.
struct DigestInput {
  std::string_view before;  // 64 hexadecimal digits; anything else counts as nothing before
  int64_t number;
  std::string_view hash;
  const DocumentSum& documents;
};
std::string DigestOf(const DigestInput& input);  ///< 64 hexadecimal digits.

}  // namespace braid::timeline
