// The $sort clause of $push: 1 or -1 for whole elements, {a: 1, "b.c": -1} for fields of them.
#pragma once

#include <string>
#include <vector>

#include "braid/status.h"
#include "engine/bson/value.h"

namespace braid::bson {
class Collation;
}

namespace braid::update {

/// Unlike a query's sort, arrays are compared as wholes and not by their smallest or greatest element.
class PushSort {
 public:
  static Result<PushSort> Parse(const bson::Value& specification);

  /// Stable.
  void Sort(std::vector<bson::Value>* elements, const bson::Collation* collation) const;

 private:
  struct Part {
    std::string path;
    bool descending;
  };
  std::vector<Part> parts_;  // empty: whole elements
  bool descending_ = false;  // of whole elements
};

}  // namespace braid::update
