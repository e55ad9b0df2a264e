// Planner: the accesses that a query can take, the most promising first. An access is one way to read the documents of
// a query, before it is made into stages.
#pragma once

#include <vector>

#include "engine/exec/plan/hint.h"
#include "engine/exec/plan/index_path.h"
#include "engine/exec/plan/stage.h"

namespace braid::query::plan {

struct Access {
  enum class Kind {
    kNothing,     // the result is known to be empty
    kCollection,  // every document
    kRows,        // rows that were made for this read
    kIndex,       // one path
    kUnion,       // a path for each branch of an $or
    kMerge        // paths of one index whose leading fields are fixed, merged in its order
  };
  Kind kind = Kind::kCollection;
  std::vector<IndexPath> paths;
  Residual residual;      // checked on the documents
  bool backward = false;  // kCollection
  bool sorted = false;    // comes in the order asked for
  bool covered = false;   // needs no documents
  size_t fixed = 0;       // kMerge

  /// An estimate of how good it is, without reading data; larger is better.
  struct Score {
    bool single = false;    // at most one document
    bool bounded = false;   // reads part of the index; counts only if all of the result is wanted
    size_t equalities = 0;  // leading fields given by value
    bool sorted = false;
    size_t ranges = 0;  // further leading fields with bounds
    bool covered = false;
    bool clustered = false;  // no second read for the document
    bool indexed = false;
    auto operator<=>(const Score&) const = default;
  };
  Score score;
};

/// At least one. Reads the multikey bits of the indexes once; PathsAreCurrent tells whether they still hold.
Result<std::vector<Access>> PlanAccesses(const Query& query);

/// False if an index has met arrays since the access was made: documents of a newer snapshot may escape its bounds.
bool PathsAreCurrent(const std::vector<Access>& accesses);

/// False if an index became ready after the snapshot at `read_at`, which may lack entries of it.
bool AreReady(const std::vector<Access>& accesses, storage::LogPosition read_at);

}  // namespace braid::query::plan
