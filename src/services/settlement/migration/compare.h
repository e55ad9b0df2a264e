// Whether the new chains hold what the old table holds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "services/settlement/migration/mirror.h"

namespace braid::settlement::migration {

struct Difference {
  int64_t output_seq = 0;
  int64_t symbol_id = 0;  ///< the chain that has it or should have it
  std::string what;
};

struct CompareReport {
  bool ok() const { return differences_total == 0; }
  int64_t old_outputs = 0;  ///< looked at in the old table
  int64_t new_outputs = 0;  ///< and in the chains, one of several chains counted once
  int64_t differences_total = 0;
  std::vector<Difference> differences;  ///< the first of them
  void Add(Difference difference);
};

/// Two earlier positions of the mirror.
struct CompareRange {
  int64_t after = 0;
  int64_t to = 0;
};

/// Reads both and names every difference in a range of sequences: an output of the old table must be in the chains of
/// its symbols and nowhere else, with the same input and output; the chains may hold no other; and both must be chained
/// as their formats say. Writers may write meanwhile. An error means that the store failed.
Result<CompareReport> Compare(StateStore& store, Mirror& mirror, const CompareRange& range);

}  // namespace braid::settlement::migration
