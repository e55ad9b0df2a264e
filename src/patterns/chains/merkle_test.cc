// The tree against answers computed apart from this code, and against lies about it.
#include "patterns/chains/merkle.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/strings.h"
#include "base/testing/testing.h"
#include "patterns/chains/signing.h"

namespace braid::merkle {
namespace {

/// Leaf i is the byte i, i times.
std::vector<Sha256Hash> Leaves(size_t count) {
  std::vector<Sha256Hash> leaves;
  for (size_t i = 0; i < count; ++i) leaves.push_back(LeafHash(std::string(i, static_cast<char>(i))));
  return leaves;
}

std::string RootHex(size_t count) { return signing::HexOf(Root(Leaves(count))); }

// Computed with the recursive definition of RFC 6962, section 2.1, in Python (hashlib).
TEST(MerkleTest, RootKnownAnswers) {
  EXPECT_EQ(RootHex(0), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(RootHex(1), "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d");
  EXPECT_EQ(RootHex(2), "5397b75fcd025549e5c6c04c86b73ee49d8a3135745f4e082f08397d79fa37b3");
  EXPECT_EQ(RootHex(3), "12c35e40e6189d661c70a762621a48f8bac032746c1712e8d6e73d7c1ef0beb1");
  EXPECT_EQ(RootHex(4), "2fc5e5989670017aa78cfaf26036dc2e04ee67b7ffa5e233a1def0354950f416");
  EXPECT_EQ(RootHex(5), "db6d52ab524f99f572fb0198a6a87357ae59e2cbc2d54866ed2a7eee7b801c18");
  EXPECT_EQ(RootHex(6), "919da75eedccb5ae06e7d1a5aa037e43e3b594ea6a79ae58a29d388a1724642e");
  EXPECT_EQ(RootHex(7), "b0cc4f00cd89333eef11e629a34d1c746aa6e4d6493bb553e4dac36871ab00e5");
  EXPECT_EQ(RootHex(8), "c596bdd1cd29b0aec1e58487d6f764fc058a66ec9b3b17836e08338c844c6bc1");
  EXPECT_EQ(RootHex(33), "7f2ef927672651bc4ff06c404d8b7d6667d99e60ebe2b560422bb3a45cba298c");
}

TEST(MerkleTest, PathKnownAnswers) {
  std::string hex;
  for (const Sha256Hash& sibling : Path(Leaves(7), 4)) hex += signing::HexOf(sibling) + " ";
  EXPECT_EQ(hex,
            "2851ddf061ccde8675d83f08d671c6890d60a3176214a75b1778d7ce4fb3942f "
            "7256dfffe5ce3aaa3b6385dfb93cf2ff69b5eed1e65903ad238d337dc0ac8f7a "
            "2fc5e5989670017aa78cfaf26036dc2e04ee67b7ffa5e233a1def0354950f416 ");
  hex.clear();
  for (const Sha256Hash& sibling : Path(Leaves(7), 6)) hex += signing::HexOf(sibling) + " ";
  EXPECT_EQ(hex,
            "d96f0c876a840860e62bd0206dbf468bbea958ff3d6ba323431ce80f331351cc "
            "2fc5e5989670017aa78cfaf26036dc2e04ee67b7ffa5e233a1def0354950f416 ");
}

// A path proves its own leaf at its own place in a tree of its own size, and nothing else.
TEST(MerkleTest, PathProvesOneLeafAtOnePlace) {
  for (size_t count = 1; count <= 33; ++count) {
    const std::vector<Sha256Hash> leaves = Leaves(count);
    const Sha256Hash root = Root(leaves);
    for (size_t index = 0; index < count; ++index) {
      const std::vector<Sha256Hash> path = Path(leaves, index);
      for (size_t claimed = 0; claimed < count + 2; ++claimed) {
        const Result<Sha256Hash> at = RootFromPath(leaves[index], {claimed, count}, path);
        EXPECT_EQ(at.ok() && *at == root, claimed == index) << count << " leaves, " << index << " as " << claimed;
        if (claimed == index || claimed >= count) continue;
        const Result<Sha256Hash> other = RootFromPath(leaves[claimed], {index, count}, path);
        EXPECT_TRUE(!other.ok() || *other != root) << count << " leaves, " << claimed << " with path of " << index;
      }
    }
  }
}

TEST(MerkleTest, PathOfTheWrongLengthIsRefused) {
  const std::vector<Sha256Hash> leaves = Leaves(33);
  for (size_t index : {0, 17, 32}) {
    std::vector<Sha256Hash> path = Path(leaves, index);
    path.push_back(leaves[0]);
    EXPECT_EQ(RootFromPath(leaves[index], {index, 33}, path).status().code(), Code::kChainBroken);
    path.resize(path.size() - 2);
    EXPECT_EQ(RootFromPath(leaves[index], {index, 33}, path).status().code(), Code::kChainBroken);
  }
  EXPECT_EQ(RootFromPath(leaves[0], {0, 0}, {}).status().message(), "there is no leaf 0 in a tree of 0 leaves");
}

// An inner node shown as a leaf, or the last leaf doubled, would be a second list with the same root.
TEST(MerkleTest, NoTwoListsHaveOneRoot) {
  std::set<Sha256Hash> roots;
  for (size_t count = 0; count <= 33; ++count) {
    std::vector<Sha256Hash> leaves = Leaves(count);
    EXPECT_TRUE(roots.insert(Root(leaves)).second) << count;
    if (count == 0) continue;
    leaves.push_back(leaves.back());
    EXPECT_TRUE(roots.insert(Root(leaves)).second) << count << " with the last one doubled";
  }
  const std::vector<Sha256Hash> two = Leaves(2);
  std::string node;
  for (const Sha256Hash& leaf : two) node.append(leaf.begin(), leaf.end());
  EXPECT_NE(LeafHash(node), Root(two));
}

}  // namespace
}  // namespace braid::merkle
