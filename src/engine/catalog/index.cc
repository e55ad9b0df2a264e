// Index: copies, and builds that fail.
#include "engine/catalog/index.h"

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
  copy->build_error_ = build_error();
  return copy;
}

void Index::FailBuild(const Status& why) const {
  std::lock_guard lock(build_mu_);
  if (build_error_.ok()) build_error_ = why;
  build_failed = true;
}

Status Index::build_error() const {
  std::lock_guard lock(build_mu_);
  return build_error_;
}

}  // namespace braid::catalog
