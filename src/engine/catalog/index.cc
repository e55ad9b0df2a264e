// Index: copies, and builds that fail.
#include "engine/catalog/index.h"

#include "base/assert.h"
#include "base/mutex.h"

namespace braid::catalog {

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

}  // namespace braid::catalog
