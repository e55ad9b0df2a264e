#include "engine/query/match/match_node.h"

namespace braid::query {

const std::vector<std::unique_ptr<const MatchNode>>& MatchNode::children() const {
  static const std::vector<std::unique_ptr<const MatchNode>> kNone;
  return kNone;
}

}  // namespace braid::query
