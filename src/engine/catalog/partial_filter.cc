#include "engine/catalog/partial_filter.h"

#include "base/strings.h"
#include "engine/bson/builder.h"
#include "engine/bson/json.h"

namespace braid::catalog {
namespace {

bool IsAllowed(const query::MatchNode& node) {
  using query::MatchOp;
  switch (node.op()) {
    case MatchOp::kAlwaysTrue:
    case MatchOp::kEq:
    case MatchOp::kLt:
    case MatchOp::kLte:
    case MatchOp::kGt:
    case MatchOp::kGte:
    case MatchOp::kExists:
    case MatchOp::kType: return true;
    case MatchOp::kAnd:
    case MatchOp::kOr:
    case MatchOp::kIn:  // its children are regular expressions
      for (const auto& child : node.children()) {
        if (!IsAllowed(*child)) return false;
      }
      return true;
    default: return false;
  }
}

}  // namespace

Result<query::Filter> ParsePartialFilter(bson::View filter, std::shared_ptr<const bson::Collation> collation) {
  auto environment = std::make_shared<query::Environment>();
  environment->collation = std::move(collation);
  BRAID_TRY(query::Filter parsed, query::Filter::Parse(filter, environment));
  if (!IsAllowed(parsed.root())) {
    return Status(Code::kCannotCreateIndex, StrCat("unsupported expression in partial index: ", bson::ToShell(filter)));
  }
  return parsed;
}

}  // namespace braid::catalog
