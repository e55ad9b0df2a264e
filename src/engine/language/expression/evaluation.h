// Evaluation and Call: the state of an expression while it is evaluated over one document. Internal to this folder.
#pragma once

#include <boost/container/small_vector.hpp>
#include <span>
#include <string_view>

#include "base/strings.h"
#include "base/work.h"
#include "engine/language/expression/expression.h"

namespace braid::query {

/// Values of one operator's operands or of one array under construction; no allocation while there are few.
using Values = boost::container::small_vector<bson::Value, 8, HeldAllocator<bson::Value>>;

struct Evaluation {
  bson::View root;                 // $$ROOT
  const Environment& environment;  // the one the expression was parsed with
  bson::Arena& arena;
  Work& work;    // asked by every operator and every loop
  Values slots;  // variables of $let, $map, …: a slot each, given at parse time

  void Set(int slot, const bson::Value& value) {
    if (slots.size() <= static_cast<size_t>(slot)) slots.resize(slot + 1);
    slots[slot] = value;
  }
};

/// One call of an operator that is a function of its operands' values. Lazy operands are evaluated when the function
/// asks for them.
struct Call {
  std::string_view name;  // "$abs", for messages
  std::span<const bson::Value> args;
  Evaluation& evaluation;
  std::span<const ExpressionPtr> operands;

  const bson::Value& operator[](size_t i) const { return args[i]; }
  size_t size() const { return args.size(); }
  bson::Arena& arena() const { return evaluation.arena; }
  Work& work() const { return evaluation.work; }
  const bson::Collation* collation() const { return evaluation.environment.collation.get(); }
  /// Whether a named operand was written at all.
  bool Has(size_t i) const { return operands[i] != nullptr; }
  /// The value of a lazy operand.
  Result<bson::Value> Force(size_t i) const { return operands[i]->Evaluate(evaluation); }
  /// True if any of the operands is null, undefined or missing.
  bool AnyNullish() const {
    for (const bson::Value& arg : args) {
      if (arg.IsNullish()) return true;
    }
    return false;
  }
};

using Function = Result<bson::Value>(const Call& call);

/// "$name message": the usual form of an operator's error.
template <typename... Parts>
Status CallError(int code, const Parts&... parts) {
  return {Location(code), StrCat(parts...)};
}

}  // namespace braid::query
