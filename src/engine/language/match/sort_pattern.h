// SortPattern: {a: 1, "b.c": -1} and the key by which it orders a document.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "braid/status.h"
#include "engine/bson/collation.h"
#include "engine/bson/value.h"
#include "engine/language/match/key_paths.h"

namespace braid::query {

class SortPattern {
 public:
  struct Part {
    std::string path;
    bool descending;
  };
  SortPattern() = default;
  /// Values 1 or -1 of any numeric type, else Location(15975); at most 32 parts; {$meta: …} is refused by name; path
  /// checks as MongoDB's.
  static Result<SortPattern> Parse(bson::View specification, std::shared_ptr<const bson::Collation> collation);

  bool empty() const { return parts_.empty(); }
  const std::vector<Part>& parts() const { return parts_; }

  /// Appends bytes whose memcmp order is the sort order (the key encoding, so shards and indexes agree): an array
  /// counts as its smallest element ascending and its largest descending, missing as null, the empty array as
  /// undefined. Parts that go through the same array are taken from the same element: the smallest compound key counts.
  /// kBadValue if two parts go through different arrays of one document (parallel arrays), Location(16746) if a numeric
  /// component is both a position and a field name.
  Status AppendSortKey(bson::View document, std::string* out) const;

 private:
  void AppendEncoded(KeyPaths::Key key, std::string* out) const;

  std::vector<Part> parts_;
  KeyPaths paths_;
  std::shared_ptr<const bson::Collation> collation_;
};

}  // namespace braid::query
