// The nodes of a chain's tree in the store, and Chains::PlaceOf and RootAt, which compute paths and roots from these
// nodes and the records below them.
#include "patterns/chains/stored_tree.h"

#include <algorithm>
#include <charconv>
#include <deque>

#include "base/assert.h"
#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"
#include "patterns/chains/chain_reader.h"
#include "patterns/chains/hash.h"
#include "patterns/chains/log.h"
#include "patterns/chains/merkle.h"

namespace braid::chains {
namespace {

using client::Bson;

std::string LevelPrefix(int64_t chain, int level) { return StrCat(chain, ":", level, ":"); }

std::string NodeId(int64_t chain, int level, int64_t number) {
  const std::string digits = StrCat(number);
  return StrCat(LevelPrefix(chain, level), std::string(digits.size() < 19 ? 19 - digits.size() : 0, '0'), digits);
}

Result<ChainTreeNode> NodeOf(int64_t chain, const bson_t& document) {
  const std::string_view id = client::TextOf(&document, "_id");
  const std::string_view root = client::BinaryOf(&document, "root");
  const size_t place = StrCat(chain, ":").size();
  ChainTreeNode node{.last_sequence = client::IntegerOf(&document, "last_seq")};
  if (id.size() > place + 2) {
    node.level = id[place] - '0';
    std::from_chars(id.data() + place + 2, id.data() + id.size(), node.number);
  }
  const bool known = node.level >= 1 && node.level <= ChainTreeNode::kLevelMost && node.number >= 0;
  if (!known || id != NodeId(chain, node.level, node.number)) {
    return Status(Code::kRecordDamaged, StrCat("the tree has a node with the _id ", id));
  }
  if (root.size() != node.root.size()) {
    return Status(Code::kRecordDamaged, StrCat("the tree's node ", id, ": root is not 32 bytes"));
  }
  std::copy(root.begin(), root.end(), node.root.begin());
  return node;
}

Status FindNodes(Parts& parts, const Bson& ids, const std::function<Status(const bson_t&)>& each) {
  Bson filter;
  filter.Document("_id", ids);
  Bson order;
  order.Integer("_id", 1);
  Bson opts;
  opts.Document("sort", order);
  const Client client = parts.clients.Acquire();
  return Find(client::CollectionOf(client.get(), parts.options.database, parts.tree), filter, opts, each);
}

/// Records of a chain that follow one another: `count` from number `first` on.
struct TreeRange {
  int64_t first = 0;
  int64_t count = 0;
};

/// A part of a range: one that has a node, or the remainder at the end that has none yet.
struct TreePart {
  TreeRange range;
  int64_t last_sequence = 0;  ///< at least the one of its last record
  ChainHash root{};
};

class TreeReader {
 public:
  TreeReader(Parts& parts, int64_t chain, int64_t head_sequence)
      : parts_(parts), chain_(chain), head_sequence_(head_sequence) {}

  // The parts of the tree over a range, in order: at most 2^8, of which only the last may be incomplete. The tree over
  // the parts equals the tree over the records, because RFC 6962 splits at powers of two.
  Result<std::vector<TreePart>> PartsOf(const TreeRange& range) {
    BRAID_ASSERT(range.first >= 0 && range.count > 0);
    int level = 0;
    while (level < ChainTreeNode::kLevelMost && ChainTreeNode::RecordsUnder(level + 1) < range.count) ++level;
    if (level == 0) return RecordsOf(range);
    const int64_t size = ChainTreeNode::RecordsUnder(level);
    const int64_t whole = range.count / size;
    BRAID_TRY(const std::vector<ChainTreeNode> nodes, ReadNodes(parts_, chain_, level, range.first / size, whole));
    std::vector<TreePart> parts;
    parts.reserve(nodes.size() + 1);
    for (const ChainTreeNode& node : nodes) {
      parts.push_back({.range = {node.number * size, size}, .last_sequence = node.last_sequence, .root = node.root});
    }
    const TreeRange rest{range.first + whole * size, range.count % size};
    if (rest.count == 0) return parts;
    BRAID_TRY(const std::vector<TreePart> below, PartsOf(rest));
    const int64_t last = rest.count == 1 ? below.front().last_sequence : INT64_MAX;
    parts.push_back({.range = rest, .last_sequence = last, .root = merkle::Root(RootsOf(below))});
    return parts;
  }

  Result<ChainHash> RootOf(const TreeRange& range) {
    BRAID_TRY(const std::vector<TreePart> parts, PartsOf(range));
    return merkle::Root(RootsOf(parts));
  }

  static std::vector<ChainHash> RootsOf(const std::vector<TreePart>& parts) {
    std::vector<ChainHash> roots(parts.size());
    std::ranges::transform(parts, roots.begin(), &TreePart::root);
    return roots;
  }

  // The records of a range that is below one node: its parts are the records themselves.
  Result<std::vector<TreePart>> RecordsOf(const TreeRange& range) {
    int64_t from = 1;
    if (const int64_t node = range.first >> ChainTreeNode::kFanOutBits; node > 0) {
      BRAID_TRY(const std::vector<ChainTreeNode> before, ReadNodes(parts_, chain_, 1, node - 1, 1));
      from = before.front().last_sequence + 1;
    }
    ChainReader reader(parts_, {.chain = chain_, .from = from, .to = head_sequence_, .segments_ahead = kSegmentsAhead});
    std::vector<TreePart> parts;
    parts.reserve(static_cast<size_t>(range.count));
    for (int64_t i = 0; i < range.count; ++i) {
      BRAID_TRY(const bool more, reader.Next());
      if (!more) return Status(Code::kRecordDamaged, StrCat("chain ", chain_, " has no record ", range.first + i + 1));
      const ChainRecordView& record = reader.record();
      parts.push_back({.range = {range.first + i, 1}, .last_sequence = record.sequence, .root = record.hash});
    }
    return parts;
  }

 private:
  static constexpr int64_t kSegmentsAhead = 8;

  Parts& parts_;
  const int64_t chain_;
  const int64_t head_sequence_;
};

/// Fills in the record itself; the caller fills in its place.
Result<ChainPlace> RecordAt(Parts& parts, int64_t chain, int64_t sequence) {
  ChainReader reader(parts, {.chain = chain, .from = sequence, .to = sequence});
  ChainPlace place;
  BRAID_TRY(const bool found, reader.Next());
  if (!found) return Status(Code::kBadValue, StrCat("chain ", chain, " has no record ", sequence));
  const ChainRecordView& record = reader.record();
  place.sequence = record.sequence;
  place.prev_hash = record.prev_hash;
  place.hash = record.hash;
  place.also.assign(record.also.begin(), record.also.end());
  place.payload = record.payload;
  return place;
}

Result<int64_t> HeadForTree(Parts& parts, int64_t chain, int64_t records) {
  BRAID_TRY(const std::vector<ChainHead> heads, parts.LoadHeads({&chain, 1}));
  const int64_t there = heads.empty() ? 0 : heads.front().records;
  if (records < 1 || records > there) {
    return Status(Code::kBadValue, StrCat("chain ", chain, " has ", there, " records, not ", records));
  }
  return heads.front().sequence;
}

}  // namespace

Status PutNodes(Transaction& transaction, const std::string& collection, int64_t chain,
                std::span<const ChainTreeNode> nodes) {
  if (nodes.empty()) return {};
  std::deque<Bson> filters;
  std::deque<Bson> changes;
  std::vector<Transaction::Update> updates;
  updates.reserve(nodes.size());
  for (const ChainTreeNode& node : nodes) {
    filters.emplace_back().Text("_id", NodeId(chain, node.level, node.number));
    Bson fields;
    fields.Integer("last_seq", node.last_sequence).Binary("root", TextOf(node.root));
    changes.emplace_back().Document("$set", fields);
    updates.push_back({.filter = filters.back().get(), .change = changes.back().get(), .upsert = true});
  }
  return transaction.UpdateOnes(collection, updates).status();
}

Result<std::vector<ChainTreeNode>> ReadNodes(Parts& parts, int64_t chain, int level, int64_t first, int64_t count) {
  Bson ids;
  ids.Text("$gte", NodeId(chain, level, first)).Text("$lt", NodeId(chain, level, first + count));
  BRAID_ASSERT(level >= 1 && level <= ChainTreeNode::kLevelMost && first >= 0 && count >= 0);
  std::vector<ChainTreeNode> nodes;
  nodes.reserve(static_cast<size_t>(count));
  BRAID_CHECK_OK(FindNodes(parts, ids, [&](const bson_t& document) -> Status {
    BRAID_TRY(const ChainTreeNode node, NodeOf(chain, document));
    nodes.push_back(node);
    return {};
  }));
  if (static_cast<int64_t>(nodes.size()) == count) return nodes;
  return Status(Code::kRecordDamaged, StrCat("chain ", chain, ": of the ", count, " nodes of its tree from ",
                                             NodeId(chain, level, first), " on there are ", nodes.size()));
}

Status EachNode(Parts& parts, int64_t chain, const std::function<void(const Result<ChainTreeNode>&)>& each) {
  Bson ids;
  ids.Text("$gte", StrCat(chain, ":")).Text("$lt", StrCat(chain, ";"));  // the character after ':'
  return FindNodes(parts, ids, [&](const bson_t& document) {
    each(NodeOf(chain, document));
    return Status();
  });
}

Status RemoveNodesPast(Transaction& transaction, const std::string& collection, int64_t chain, int64_t records) {
  for (int level = 1; level <= ChainTreeNode::kLevelMost; ++level) {
    Bson ids;
    ids.Text("$gte", NodeId(chain, level, records / ChainTreeNode::RecordsUnder(level)));
    ids.Text("$lt", NodeId(chain, level, INT64_MAX));
    Bson filter;
    filter.Document("_id", ids);
    BRAID_CHECK_OK(transaction.Remove(collection, filter.get()));
  }
  return {};
}

}  // namespace braid::chains

namespace braid {

Result<ChainPlace> Chains::PlaceOf(int64_t chain, int64_t sequence, int64_t records) {
  using chains::TreePart;
  BRAID_TRY(const int64_t head_sequence, chains::HeadForTree(*parts_, chain, records));
  chains::TreeReader tree(*parts_, chain, head_sequence);
  const auto absent = [&] {
    return Status(Code::kBadValue,
                  StrCat("chain ", chain, " has no record with sequence ", sequence, " among its first ", records));
  };
  std::vector<std::vector<ChainHash>> downwards;  // the path within each level, from the root down
  chains::TreeRange range{0, records};
  do {
    BRAID_TRY(const std::vector<TreePart> parts, tree.PartsOf(range));
    const auto part = std::ranges::lower_bound(parts, sequence, {}, &TreePart::last_sequence);
    if (part == parts.end()) return absent();
    const auto index = static_cast<size_t>(part - parts.begin());
    downwards.push_back(merkle::Path(chains::TreeReader::RootsOf(parts), index));
    range = part->range;
    if (range.count == 1 && part->last_sequence != sequence) return absent();
  } while (range.count > 1);
  BRAID_TRY(ChainPlace place, chains::RecordAt(*parts_, chain, sequence));
  place.index = range.first;
  for (auto part = downwards.rbegin(); part != downwards.rend(); ++part) {
    place.path.insert(place.path.end(), part->begin(), part->end());
  }
  return place;
}

Result<ChainHash> Chains::RootAt(int64_t chain, int64_t records) {
  BRAID_TRY(const int64_t head_sequence, chains::HeadForTree(*parts_, chain, records));
  return chains::TreeReader(*parts_, chain, head_sequence).RootOf({0, records});
}

}  // namespace braid
