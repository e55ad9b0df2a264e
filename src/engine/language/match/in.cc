// $in and $nin: membership in a sorted set, and regexes among the members.
#include <algorithm>

#include "base/strings.h"
#include "engine/bson/compare.h"
#include "engine/language/match/leaf.h"
#include "engine/language/match/parse.h"

namespace braid::query {

namespace {

using bson::Type;
using bson::Value;

class InNode final : public LeafNode<InNode> {
 public:
  /// `members` is an array in Compare's order without equals.
  InNode(std::string_view path, bson::Document members, NodeList regexes, const bson::Collation* collation)
      : LeafNode(MatchOp::kIn, path), members_(std::move(members)), regexes_(std::move(regexes)), less_{collation} {
    for (const bson::Element& member : members_.view()) {
      sorted_.push_back(member.value);
      has_null_ |= member.value.Is(Type::kNull);
    }
  }

  Value operand() const override { return {Type::kArray, members_.bytes().data(), members_.view().size()}; }
  const NodeList& children() const override { return regexes_; }

  bool Test(const Value& value, Trial& trial) const {
    if (value.IsNullish()) return has_null_;
    if (std::binary_search(sorted_.begin(), sorted_.end(), value, less_)) return true;
    for (const NodePtr& regex : regexes_) {
      Result<bool> matched = regex->MatchesElement(value);
      if (!matched.ok()) trial.error = matched.error();
      if (!matched.ok() || *matched) return true;
    }
    return false;
  }

  void AppendCondition(bson::Builder& out) const override {
    out.OpenArray("$in");
    for (const Value& member : sorted_) out.AppendNext(member);
    for (const NodePtr& regex : regexes_) out.AppendNext(regex->regex());
    out.Close();
  }

 private:
  const bson::Document members_;
  const NodeList regexes_;
  const bson::ValueLess less_;
  std::vector<Value> sorted_;  // views of members_
  bool has_null_ = false;
};

Result<NodePtr> MakeIn(const OperatorCall& call) {
  const bson::Collation* collation = call.context.collation();
  std::vector<Value> members;
  NodeList regexes;
  for (const bson::Element& member : call.operand.AsView()) {
    if (IsOperatorDocument(member.value)) return BadValue("cannot nest $ under $in");
    if (member.value.Is(Type::kUndefined)) return BadValue("InMatchExpression equality cannot be undefined");
    if (member.value.Is(Type::kRegex)) {
      BRAID_TRY(NodePtr regex, MakeRegex(call.path, member.value.AsRegex()));
      regexes.push_back(std::move(regex));
    } else {
      members.push_back(member.value);
    }
  }
  std::stable_sort(members.begin(), members.end(), bson::ValueLess{collation});
  const auto equal = [collation](const Value& a, const Value& b) { return bson::Equal(a, b, collation); };
  members.erase(std::unique(members.begin(), members.end(), equal), members.end());

  if (members.empty() && regexes.empty()) return MakeConstant(false);
  if (members.size() == 1 && regexes.empty()) return MakeEquality(call.path, members.front(), call.context);
  if (members.empty() && regexes.size() == 1) return std::move(regexes.front());
  bson::Builder sorted;
  for (const Value& member : members) sorted.AppendNext(member);
  return NodePtr(std::make_unique<InNode>(call.path, sorted.Finish(), std::move(regexes), collation));
}

}  // namespace

Result<NodePtr> ParseIn(const OperatorCall& call) {
  if (!call.operand.Is(Type::kArray)) return BadValue(StrCat(call.name, " needs an array"));
  BRAID_TRY(NodePtr node, MakeIn(call));
  return call.name == "$nin" ? MakeNot(call.path, std::move(node)) : std::move(node);
}

}  // namespace braid::query
