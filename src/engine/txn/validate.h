// Validate: checks that the indexes of a collection agree with its documents, for `validate` and `braid verify`; and
// that the store has no stray keys, which belong to nothing (stray_keys.cc), for `braid verify`.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "engine/txn/context.h"

namespace braid::txn {

struct ValidationReport {
  uint64_t documents = 0;
  uint64_t bytes = 0;
  struct IndexFigures {
    std::string name;
    uint64_t keys = 0;
  };
  std::vector<IndexFigures> indexes;  // in the order of the collection's
  std::vector<std::string> errors;    // at most kErrorsMax of them; empty: no errors
  static constexpr size_t kErrorsMax = 20;
};

/// Reads the context's snapshot (fixes one if there is none): every document's entries are there with its values, there
/// are no others, multikey bits are set, and the counters are right. The caller holds the gate, or there is no writer.
Result<ValidationReport> ValidateCollection(Context& context, const catalog::Collection& collection);

/// OK, or kStorageCorrupt with the differences.
Status CheckIndexes(Context& context, const catalog::Collection& collection);

struct StrayKeysReport {
  uint64_t keys = 0;                // that were read
  std::vector<std::string> errors;  // at most kErrorsMax of them; empty: no errors
  static constexpr size_t kErrorsMax = 20;
};

/// The numbers of every collection and index that the catalogue knows at this moment.
std::set<uint32_t> NumbersInUse(const catalog::Catalog& catalog);

/// Reads what the context's snapshot has beside documents and entries with these numbers: descriptions, databases,
/// sessions and figures are well-formed, and there are no documents or entries with other numbers.
Result<StrayKeysReport> CheckStrayKeys(Context& context, const std::set<uint32_t>& numbers);

}  // namespace braid::txn
