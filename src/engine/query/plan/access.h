// Access: one way to read what a query asks for, before it is made into stages.
#pragma once

#include <vector>

#include "engine/query/plan/index_path.h"
#include "engine/query/plan/stage.h"

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

  /// How promising it is without a look at the data; larger is better.
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

/// The stages of an access: reading, sorting, skipping, projecting, limiting.
std::unique_ptr<Stage> BuildStages(Run& run, const Query& query, const Access& access);

}  // namespace braid::query::plan
