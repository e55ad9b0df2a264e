#include "patterns/chains/merkle.h"

#include <openssl/evp.h>

#include <bit>
#include <string>

#include "base/assert.h"
#include "base/strings.h"

namespace braid::merkle {
namespace {

constexpr char kLeafPrefix = 0;
constexpr char kNodePrefix = 1;

Sha256Hash NodeHash(const Sha256Hash& left, const Sha256Hash& right) {
  std::array<char, 1 + 2 * sizeof(Sha256Hash)> bytes;
  bytes[0] = kNodePrefix;
  std::copy(left.begin(), left.end(), bytes.begin() + 1);
  std::copy(right.begin(), right.end(), bytes.begin() + 1 + sizeof(Sha256Hash));
  return Sha256({bytes.data(), bytes.size()});
}

/// How many of `count` leaves are in the left half: the largest power of two below count. count > 1.
uint64_t LeftCount(uint64_t count) { return std::bit_floor(count - 1); }

}  // namespace

Sha256Hash Sha256(std::string_view bytes) {
  static const EVP_MD* const kSha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  Sha256Hash hash;
  BRAID_ASSERT(EVP_Digest(bytes.data(), bytes.size(), hash.data(), nullptr, kSha256, nullptr) == 1);
  return hash;
}

Sha256Hash LeafHash(std::string_view bytes) {
  std::string prefixed(1, kLeafPrefix);
  prefixed += bytes;
  return Sha256(prefixed);
}

Sha256Hash Root(std::span<const Sha256Hash> leaves) {
  if (leaves.empty()) return Sha256("");
  if (leaves.size() == 1) return leaves[0];
  const size_t left = LeftCount(leaves.size());
  return NodeHash(Root(leaves.first(left)), Root(leaves.subspan(left)));
}

std::vector<Sha256Hash> Path(std::span<const Sha256Hash> leaves, size_t index) {
  BRAID_ASSERT(index < leaves.size());
  if (leaves.size() == 1) return {};
  const size_t left = LeftCount(leaves.size());
  const bool is_left = index < left;
  std::vector<Sha256Hash> path = is_left ? Path(leaves.first(left), index) : Path(leaves.subspan(left), index - left);
  path.push_back(Root(is_left ? leaves.subspan(left) : leaves.first(left)));
  return path;
}

Result<Sha256Hash> RootFromPath(const Sha256Hash& leaf, Position position, std::span<const Sha256Hash> path) {
  if (position.index >= position.leaf_count) {
    return Status(Code::kChainBroken,
                  StrCat("there is no leaf ", position.index, " in a tree of ", position.leaf_count, " leaves"));
  }
  std::vector<bool> goes_left;  // from the root down: which half has the leaf
  for (uint64_t index = position.index, count = position.leaf_count; count > 1;) {
    const uint64_t left = LeftCount(count);
    goes_left.push_back(index < left);
    count = index < left ? left : count - left;
    if (index >= left) index -= left;
  }
  if (path.size() != goes_left.size()) {
    return Status(Code::kChainBroken, StrCat("the path of leaf ", position.index, " in a tree of ", position.leaf_count,
                                             " leaves has ", goes_left.size(), " hashes, not ", path.size()));
  }
  Sha256Hash hash = leaf;
  for (const Sha256Hash& sibling : path) {
    hash = goes_left.back() ? NodeHash(hash, sibling) : NodeHash(sibling, hash);
    goes_left.pop_back();
  }
  return hash;
}

}  // namespace braid::merkle
