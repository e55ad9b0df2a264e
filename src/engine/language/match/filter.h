// Filter: MongoDB's query language over one document.
#pragma once

#include <memory>
#include <string>

#include "engine/language/expression/expression.h"
#include "engine/language/match/match_node.h"

namespace braid::query {

/// Immutable after Parse; copies share the tree; any thread. Keeps copies of what it needs from the specification and
/// the environment.
class Filter {
 public:
  Filter();  ///< matches everything

  /// A null environment is the default one: simple collation, no variables.
  /// Codes as MongoDB's: unknown operator kBadValue, …; $where, $text, $near… are refused by name (operators.cc).
  static Result<Filter> Parse(bson::View specification, std::shared_ptr<const Environment> environment);
  /// A condition on a single value instead of a document, as $pull uses it; ask with MatchesElement. {$gt: 5} and
  /// regexes see the element as a field's value (an array is entered), {a: 1, b: 2} is a filter over elements that are
  /// documents, and any other value is met by its equals only.
  static Result<Filter> ParseElement(const bson::Value& condition, std::shared_ptr<const Environment> environment);

  Result<bool> Matches(bson::View document, MatchDetails* details = nullptr) const {
    return root_->Matches(document, details);
  }
  Result<bool> MatchesElement(const bson::Value& element) const { return root_->MatchesElement(element); }

  const MatchNode& root() const { return *root_; }
  bool matches_everything() const { return root_->op() == MatchOp::kAlwaysTrue; }
  /// As explain's parsedQuery shows it.
  bson::Document ToBson() const;

 private:
  std::shared_ptr<const MatchNode> root_;
};

OperatorNames FilterOperators();

}  // namespace braid::query
