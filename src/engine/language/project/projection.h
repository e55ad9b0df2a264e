// Projection: which fields of a document are shown. For find, findAndModify and the $project family of stages.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "engine/language/expression/expression.h"
#include "engine/language/match/filter.h"

namespace braid::query {

/// Immutable after Parse; any thread.
class Projection {
 public:
  enum class Use {
    kFind,      // with $slice, $elemMatch, positional
    kProject,   // $project: no find-only operators
    kAddFields  // $addFields / $set: every value is an expression, everything else is kept
  };
  virtual ~Projection() = default;

  /// `filter` is the find's own filter, which the positional operator refers to; it is copied and may be null if there
  /// is none. Codes as MongoDB's (31254, 31253, 31249, …).
  static Result<std::unique_ptr<const Projection>> Parse(bson::View specification, Use use, const Filter* filter,
                                                         std::shared_ptr<const Environment> environment);
  /// $unset: "a" or ["a", "b.c"].
  static Result<std::unique_ptr<const Projection>> ParseUnset(const bson::Value& specification,
                                                              std::shared_ptr<const Environment> environment);

  /// The document as shown. Fields that are copied keep the document's order, computed ones follow in the order of the
  /// specification; $addFields overwrites in place and appends what is new.
  virtual Result<bson::Document> Apply(bson::View document, bson::Arena& arena) const = 0;

  /// If the result depends on named paths only (an inclusion): those paths, for covering. Null if the whole document is
  /// needed.
  virtual const std::set<std::string>* needed_paths() const = 0;

  /// True if it names an array element by the filter's match ("a.$"): findAndModify cannot show the new document
  /// through it.
  virtual bool positional() const { return false; }
  /// True if every document is shown as it is: an empty find projection.
  virtual bool identity() const { return false; }
};

}  // namespace braid::query
