// Splice and SetPath: a document with another value at one path.
#pragma once

#include <string>
#include <vector>

#include "engine/language/match/path.h"

namespace braid::query::pipeline {

/// Replaces one value of a document by other values, one after another, copying the bytes before and after it. The path
/// leads through documents only. Not thread-safe; the result of With() is valid until the next call.
class Splice {
 public:
  explicit Splice(FieldPath path) : path_(std::move(path)) {}

  /// The value at the path; missing if none. The document must stay for the calls of With().
  bson::Value Find(bson::View document);
  /// The document with `value` instead of what Find() found (which must not be missing); without it if missing.
  bson::View With(const bson::Value& value);

 private:
  const FieldPath path_;
  bson::View document_;
  std::vector<size_t> lengths_;  // where the lengths of the documents around the value lie
  size_t start_ = 0;             // of the element
  size_t end_ = 0;
  std::string output_;
};

/// The document with the value at the path. Documents on the way are made where there are none.
bson::Document SetPath(bson::View document, const FieldPath& path, const bson::Value& value);

}  // namespace braid::query::pipeline
