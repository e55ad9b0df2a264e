// MatchNode: the parsed form of a filter. The matcher evaluates it; the planner and the router read it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "braid/status.h"
#include "engine/bson/value.h"

namespace braid::bson {
class Builder;
}  // namespace braid::bson

namespace braid::query {

enum class MatchOp {
  kAlwaysTrue,
  kAlwaysFalse,
  // logical: children
  kAnd,
  kOr,
  kNor,
  kNot,  // one child; also $ne (kNot of kEq) and $nin (kNot of kIn)
  // leaves: path and operand
  kEq,
  kLt,
  kLte,
  kGt,
  kGte,
  kIn,  // operand: array, sorted and without equals; regexes are not in it but kept as kRegex children
  kRegex,
  kMod,
  kExists,
  kType,
  kSize,
  kBitsAllClear,
  kBitsAllSet,
  kBitsAnyClear,
  kBitsAnySet,
  // arrays: path and children
  kElemMatchObject,  // one child, matched against each element as a document
  kElemMatchValue,   // children are conditions on the element itself, their path is empty
  // whole documents
  kExpr,
  kJsonSchema,
};

/// Set while matching, for the positional operator and the $-projection.
struct MatchDetails {
  int array_index = -1;  // index of the element that met the query's array predicate (the first); -1: none
};

/// One node. Immutable after parsing, owns its operands, any thread.
class MatchNode {
 public:
  explicit MatchNode(MatchOp op) : op_(op) {}
  virtual ~MatchNode() = default;
  MatchOp op() const { return op_; }

  /// Dotted path of a leaf or array node; empty for the others.
  virtual std::string_view path() const { return {}; }
  /// The operand of a comparison; an array for kIn; missing for the others.
  virtual bson::Value operand() const { return {}; }
  virtual const std::vector<std::unique_ptr<const MatchNode>>& children() const {
    static const std::vector<std::unique_ptr<const MatchNode>> kNone;
    return kNone;
  }
  /// kRegex: pattern and options as the user wrote them; empty for the others.
  virtual bson::Regex regex() const { return {}; }
  /// kRegex: the literal prefix every match starts with ("" if none); exact if the regex is only that prefix (^abc).
  virtual std::string_view regex_prefix() const { return {}; }
  virtual bool regex_is_prefix_only() const { return false; }

  virtual Result<bool> Matches(bson::View document, MatchDetails* details) const = 0;
  /// For conditions on an element itself (kElemMatchValue's children, $pull, array filters).
  virtual Result<bool> MatchesElement(const bson::Value& element) const = 0;

  /// Appends the node as the fields of a filter: a: {$gt: 5} or $or: […].
  virtual void AppendTo(bson::Builder& out) const = 0;
  /// Appends only the part after the path, $gt: 5. For nodes that are conditions on one path.
  virtual void AppendCondition(bson::Builder& out) const = 0;

 private:
  MatchOp op_;
};

}  // namespace braid::query
