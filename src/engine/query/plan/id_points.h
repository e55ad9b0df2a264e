// IXSCAN over single values of _id: each document is fetched by its key, which the store's filters answer at once if
// there is none.
#pragma once

#include <string>

#include "engine/query/plan/stage.h"
#include "engine/storage/store.h"

namespace braid::query::plan {

class IdPoints final : public Stage {
 public:
  /// True for a forward walk over the _id index that is bounded to single values.
  static bool Serves(const IndexPath& path);
  IdPoints(Run& run, IndexPath path);

 protected:
  Result<bool> Pull(txn::Context& context, Row* row) override;
  void Describe(bson::Builder& out, bool executed) const override;

 private:
  const IndexPath path_;
  size_t next_ = 0;  // of the points
  std::string key_;  // begins with the prefix of the collection's documents
  const size_t prefix_size_;
  storage::Buffer document_;
  uint64_t found_ = 0;
};

}  // namespace braid::query::plan
