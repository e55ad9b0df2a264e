// Collation: the order of strings in a language, through ICU. A null pointer everywhere means the simple collation:
// bytes.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "braid/status.h"
#include "engine/bson/value.h"

namespace braid::bson {

/// Immutable after construction; any thread.
class Collation {
 public:
  ~Collation();
  /// {locale, strength, caseLevel, caseFirst, numericOrdering, alternate, maxVariable, backwards, normalization,
  /// version} with MongoDB's defaults and codes: unknown locale or bad value kBadValue, unknown field Location(40415),
  /// locale missing Location(40414). `locale: "simple"` gives a null pointer.
  static Result<std::shared_ptr<const Collation>> Parse(View spec);

  int Compare(std::string_view a, std::string_view b) const;
  /// Bytes whose order is the collation's; the key encoding stores these for strings.
  std::string SortKey(std::string_view text) const;
  /// The complete specification, all defaults filled in, as listIndexes shows it.
  View spec() const { return spec_; }
  /// Same specification; null is equal only to null.
  static bool Same(const Collation* a, const Collation* b);

 private:
  struct Impl;
  Collation(std::unique_ptr<Impl> impl, Document spec);
  std::unique_ptr<Impl> impl_;
  Document spec_;
};

}  // namespace braid::bson
