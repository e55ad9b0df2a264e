// Index: copies, and builds that fail. The filter of a partial index.
#include "engine/catalog/index.h"

#include "base/assert.h"
#include "base/mutex.h"
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

std::shared_ptr<Index> Index::Clone() const {
  auto copy = std::make_shared<Index>();
  copy->spec = spec;
  copy->number = number;
  copy->building = building;
  copy->ready_at = ready_at;
  copy->multikey = multikey.load();
  copy->multikey_stored = multikey_stored.load();
  copy->build_failed = build_failed.load();
  copy->uses = uses.load();
  if (const Status failed = build_error(); !failed.ok()) copy->FailBuild(failed);
  return copy;
}

void Index::FailBuild(const Status& why) const {
  BRAID_ASSERT(building && !why.ok());
  const MutexLock lock(build_mu_);
  if (build_error_.ok()) build_error_ = why;
  build_failed = true;
}

Status Index::build_error() const {
  const MutexLock lock(build_mu_);
  return build_error_;
}

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
