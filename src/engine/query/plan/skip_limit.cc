// SKIP and LIMIT.
#include "engine/query/plan/skip_limit.h"

namespace braid::query::plan {

Result<bool> Skip::Pull(txn::Context& context, Row* row) {
  for (; left_ > 0; --left_, ++figures_.works) {
    BRAID_TRY(const bool more, input().Next(context, row));
    if (!more) return false;
  }
  return input().Next(context, row);
}

Result<bool> Limit::Pull(txn::Context& context, Row* row) {
  if (left_ == 0) return false;
  --left_;
  return input().Next(context, row);
}

}  // namespace braid::query::plan
