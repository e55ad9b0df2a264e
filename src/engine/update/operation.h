// Operation: what one update operator does at the end of one path. The tree (update_node.h) leads to it, apply.cc calls
// it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/bson/arena.h"
#include "engine/bson/builder.h"
#include "engine/query/expression/environment.h"

namespace braid::update {

/// What one application of an update to one document shares.
struct ApplyContext {
  bson::View before;                      // the document as it was: $rename reads it, messages name its _id
  const query::Environment& environment;  // clock, collation
  int array_index = -1;                   // what `$` stands for; -1: nothing
  bool inserting = false;                 // the document is about to be inserted by an upsert
  int arrays_entered = 0;                 // how many arrays lie between the root and the current place
  bool changed = false;                   // set once an operation writes or removes something
};

/// The place an operation is applied to.
struct Target {
  std::string_view name;  // of the field or array element to be written
  bson::Value current;    // missing: the path does not exist yet
  bool in_array = false;  // the parent is an array
};

enum class Change {
  kNone,     // nothing was written: what is there stays
  kWritten,  // the field was written under the target's name
  kRemoved   // nothing was written: the field goes
};

/// Parsed operand of one operator at one path. Immutable, any thread.
class Operation {
 public:
  explicit Operation(std::string_view path) : path_(path) {}
  virtual ~Operation() = default;

  /// Writes the new value to `out`, or says why nothing is written.
  virtual Result<Change> Apply(const Target& target, ApplyContext& context, bson::Builder& out) const = 0;

  /// Whether a path that does not exist is made.
  virtual bool Creates(const ApplyContext& /*context*/) const { return true; }

  /// The path ends early, at an element that cannot hold its next part: a scalar, or an array and no number.
  virtual Status DeadEnd(const bson::Value& element, std::string_view part, const ApplyContext& context) const;

  /// How deep the documents are that this may write, counted from its own place; 0 for scalars.
  virtual int operand_depth() const { return 0; }

  /// The path as the user wrote it.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

using OperationPtr = std::shared_ptr<const Operation>;

/// "{_id: 5}" of the document being updated, for messages.
std::string IdText(const ApplyContext& context);

/// How many levels of documents and arrays a value has: 0 for a scalar, 1 for {} and [].
int Depth(const bson::Value& value);

}  // namespace braid::update
