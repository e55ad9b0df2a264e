// The update operators by name: one function an operator makes its operations from one `path: operand`.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/update/operation.h"

namespace braid::update {

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
