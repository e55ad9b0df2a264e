// The trees of chains as they are stored: nodes in the collection <log>_tree (braid/chain_tree.h).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "braid/transaction.h"
#include "patterns/chains/parts.h"

namespace braid::chains {

/// Writes nodes and replaces existing ones: nodes may be left over from before a chain lost its end.
Status PutNodes(Transaction& transaction, const std::string& collection, int64_t chain,
                std::span<const ChainTreeNode> nodes);

/// The nodes of one level, `count` from number `first` on. kRecordDamaged if any is missing.
Result<std::vector<ChainTreeNode>> ReadNodes(Parts& parts, int64_t chain, int level, int64_t first, int64_t count);

/// Calls `each` with every node that a chain has, by level and number. An invalid document is reported as a problem.
Status EachNode(Parts& parts, int64_t chain, const std::function<void(const Result<ChainTreeNode>&)>& each);

/// Removes the nodes of a chain that are over more than its first `records` records.
Status RemoveNodesPast(Transaction& transaction, const std::string& collection, int64_t chain, int64_t records);

}  // namespace braid::chains
