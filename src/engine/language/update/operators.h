// Operation: what one update operator does at the end of one path; the tree (update_node.h) leads to it, apply.cc calls
// it. The update operators by name: one function per operator makes its operations from one `path: operand`.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bson/arena.h"
#include "engine/bson/builder.h"
#include "engine/language/expression/expression.h"

namespace braid::update {

/// The shared state of applying an update to one document.
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

enum class Effect {
  kNone,     // nothing was written: the field stays as it is
  kWritten,  // the field was written under the target's name
  kRemoved   // nothing was written: the field is removed
};

/// Parsed operand of one operator at one path. Immutable, any thread.
class Operation {
 public:
  explicit Operation(std::string_view path) : path_(path) {}
  virtual ~Operation() = default;

  /// Writes the new value to `out`, or says why nothing is written.
  virtual Result<Effect> Apply(const Target& target, ApplyContext& context, bson::Builder& out) const = 0;

  /// Whether a path that does not exist is created.
  virtual bool Creates(const ApplyContext& /*context*/) const { return true; }

  /// Called if the path ends early, at an element that cannot contain its next part: a scalar, or an array if the part
  /// is not a number.
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

/// One field of an operator's document: {$inc: {path: value}}.
struct Operand {
  std::string_view path;
  bson::Value value;
  const std::shared_ptr<const query::Environment>& environment;
};

/// An operation and the path it belongs to.
struct Branch {
  std::string path;
  OperationPtr operation;
};

/// Checks the operand and appends what it means; one branch, except for $rename. The operand's path has passed
/// CheckPath.
using ParseOperand = Status (*)(const Operand& operand, std::vector<Branch>* branches);

struct Operator {
  std::string_view name;
  ParseOperand parse;
};

/// All of them, sorted by name.
std::span<const Operator> Operators();
const Operator* FindOperator(std::string_view name);

Status ParseAddToSet(const Operand& operand, std::vector<Branch>* branches);
Status ParseBit(const Operand& operand, std::vector<Branch>* branches);
Status ParseCurrentDate(const Operand& operand, std::vector<Branch>* branches);
Status ParseInc(const Operand& operand, std::vector<Branch>* branches);
Status ParseMax(const Operand& operand, std::vector<Branch>* branches);
Status ParseMin(const Operand& operand, std::vector<Branch>* branches);
Status ParseMul(const Operand& operand, std::vector<Branch>* branches);
Status ParsePop(const Operand& operand, std::vector<Branch>* branches);
Status ParsePull(const Operand& operand, std::vector<Branch>* branches);
Status ParsePullAll(const Operand& operand, std::vector<Branch>* branches);
Status ParsePush(const Operand& operand, std::vector<Branch>* branches);
Status ParseRename(const Operand& operand, std::vector<Branch>* branches);
Status ParseSet(const Operand& operand, std::vector<Branch>* branches);
Status ParseSetOnInsert(const Operand& operand, std::vector<Branch>* branches);
Status ParseUnset(const Operand& operand, std::vector<Branch>* branches);

/// The usual end of a Parse function: a single operation at the operand's own path.
template <typename T, typename... Args>
Status AddBranch(const Operand& operand, std::vector<Branch>* branches, Args&&... args) {
  branches->push_back(
      {std::string(operand.path), std::make_shared<const T>(operand.path, std::forward<Args>(args)...)});
  return {};
}

}  // namespace braid::update
