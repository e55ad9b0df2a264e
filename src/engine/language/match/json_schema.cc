// $jsonSchema as an operator of a filter, and why a document does not meet a validator.
#include "engine/language/match/json_schema.h"

#include "engine/language/expression/expression.h"
#include "engine/language/match/parse.h"
#include "engine/language/match/path.h"

namespace braid::query {
namespace {

using bson::Value;

struct Words {
  std::string_view name;
  std::string_view failed;
  std::string_view succeeded;
};

Words WordsOf(MatchOp op) {
  switch (op) {
    case MatchOp::kAlwaysTrue: return {"$alwaysTrue", "", "expression always evaluates to true"};
    case MatchOp::kAlwaysFalse: return {"$alwaysFalse", "expression always evaluates to false", ""};
    case MatchOp::kAnd: return {"$and", "", ""};
    case MatchOp::kOr: return {"$or", "", ""};
    case MatchOp::kNor: return {"$nor", "", ""};
    case MatchOp::kNot: return {"$not", "", ""};
    case MatchOp::kEq: return {"$eq", "comparison failed", "comparison succeeded"};
    case MatchOp::kLt: return {"$lt", "comparison failed", "comparison succeeded"};
    case MatchOp::kLte: return {"$lte", "comparison failed", "comparison succeeded"};
    case MatchOp::kGt: return {"$gt", "comparison failed", "comparison succeeded"};
    case MatchOp::kGte: return {"$gte", "comparison failed", "comparison succeeded"};
    case MatchOp::kIn: return {"$in", "no matching value found in array", "matching value found in array"};
    case MatchOp::kRegex: return {"$regex", "regular expression did not match", "regular expression did match"};
    case MatchOp::kMod:
      return {"$mod", "$mod did not evaluate to expected remainder", "$mod did evaluate to expected remainder"};
    case MatchOp::kExists: return {"$exists", "path does not exist", "path does exist"};
    case MatchOp::kType: return {"$type", "type did not match", "type did match"};
    case MatchOp::kSize:
      return {"$size", "array length was not equal to given size", "array length was equal to given size"};
    case MatchOp::kBitsAllClear:
      return {"$bitsAllClear", "bitwise operator failed to match", "bitwise operator matched"};
    case MatchOp::kBitsAllSet: return {"$bitsAllSet", "bitwise operator failed to match", "bitwise operator matched"};
    case MatchOp::kBitsAnyClear:
      return {"$bitsAnyClear", "bitwise operator failed to match", "bitwise operator matched"};
    case MatchOp::kBitsAnySet: return {"$bitsAnySet", "bitwise operator failed to match", "bitwise operator matched"};
    case MatchOp::kElemMatchObject:
    case MatchOp::kElemMatchValue:
      return {"$elemMatch", "array did not satisfy the child predicate", "array did satisfy the child predicate"};
    case MatchOp::kExpr: return {"$expr", "expression did not match", "expression did match"};
    case MatchOp::kJsonSchema: return {"$jsonSchema", "schema did not match", "schema matched"};
  }
  return {};
}

class Explainer {
 public:
  Explainer(bson::View document, bson::Builder& out) : document_(document), out_(out) {}

  // `matched`: the node does match, and that is the fault.
  void Explain(const MatchNode& node, bool matched) {
    switch (node.op()) {
      case MatchOp::kAnd:
      case MatchOp::kOr: return ExplainList(node, matched);
      case MatchOp::kNor: return ExplainList(node, !matched);
      case MatchOp::kNot: return ExplainNot(node, matched);
      case MatchOp::kJsonSchema: return ExplainSchema(static_cast<const JsonSchemaNode&>(node), matched);
      default: return ExplainLeaf(node, WordsOf(node.op()).name, matched);
    }
  }

 private:
  void ExplainList(const MatchNode& node, bool satisfied) {
    out_.Append("operatorName", WordsOf(node.op()).name);
    out_.OpenArray(satisfied ? "clausesSatisfied" : "clausesNotSatisfied");
    int32_t index = 0;
    for (const auto& child : node.children()) {
      if (child->Matches(document_, nullptr).value_or(false) == satisfied) {
        out_.OpenNextObject().Append("index", index).OpenObject("details");
        Explain(*child, satisfied);
        out_.Close().Close();
      }
      ++index;
    }
    out_.Close();
  }

  void ExplainNot(const MatchNode& node, bool matched) {
    const MatchNode& child = *node.children().front();
    if (child.op() == MatchOp::kEq) return ExplainLeaf(child, "$ne", !matched);
    if (child.op() == MatchOp::kIn) return ExplainLeaf(child, "$nin", !matched);
    out_.Append("operatorName", "$not").OpenObject("details");
    Explain(child, !matched);
    out_.Close();
  }

  void ExplainSchema(const JsonSchemaNode& node, bool matched) {
    out_.Append("operatorName", "$jsonSchema");
    if (matched) {
      out_.OpenObject("specifiedAs").Append("$jsonSchema", node.operand()).Close().Append("reason", "schema matched");
      return;
    }
    node.schema().AppendAnnotations(out_);
    node.schema().ExplainRules("schemaRulesNotSatisfied", Value(document_), out_);
  }

  void ExplainLeaf(const MatchNode& node, std::string_view name, bool matched) {
    const Words words = WordsOf(node.op());
    out_.Append("operatorName", name).OpenObject("specifiedAs");
    if (name == "$ne" || name == "$nin") {
      bson::Builder condition;  // $eq: operand, to be shown under the other name
      node.AppendCondition(condition);
      const bson::Document positive = condition.Finish();
      out_.OpenObject(node.path()).Append(name, positive.view().begin()->value).Close();
    } else {
      node.AppendTo(out_);
    }
    out_.Close();
    const std::vector<Value> values = Considered(node);
    const bool absent = !node.path().empty() && values.empty();
    if (absent && !matched && node.op() != MatchOp::kExists) {
      out_.Append("reason", "field was missing");
      return;
    }
    out_.Append("reason", matched ? words.succeeded : words.failed);
    if (node.op() == MatchOp::kExpr) out_.Append("expressionResult", matched);
    if (node.op() != MatchOp::kExists) AppendConsidered(values, node.op() == MatchOp::kType);
  }

  // The values at the node's path; an array counts as its elements and itself.
  std::vector<Value> Considered(const MatchNode& node) const {
    std::vector<Value> values;
    if (node.path().empty()) return values;
    const MatchOp op = node.op();
    const bool whole = op == MatchOp::kSize || op == MatchOp::kElemMatchObject || op == MatchOp::kElemMatchValue;
    WalkPath(FieldPath(node.path()), document_, whole ? Leaf::kWhole : Leaf::kElements, [&](const Value& value, int) {
      if (!value.missing()) values.push_back(value);
      return false;
    });
    return values;
  }

  void AppendConsidered(const std::vector<Value>& values, bool types) {
    if (values.empty()) return;
    if (values.size() == 1) {
      out_.Append("consideredValue", values.front());
      if (types) out_.Append("consideredType", bson::TypeName(values.front().type()));
      return;
    }
    out_.OpenArray("consideredValues");
    for (const Value& value : values) out_.AppendNext(value);
    out_.Close();
    if (!types) return;
    out_.OpenArray("consideredTypes");
    for (const Value& value : values) out_.AppendNext(bson::TypeName(value.type()));
    out_.Close();
  }

  const bson::View document_;
  bson::Builder& out_;
};

}  // namespace

Result<NodePtr> ParseJsonSchema(const OperatorCall& call) {
  if (!call.context.top_level) return BadValue("$jsonSchema can only be applied to the top-level document");
  if (!call.operand.Is(bson::Type::kObject)) return Status(Code::kTypeMismatch, "$jsonSchema must be an object");
  BRAID_TRY(Schema schema, Schema::Parse(call.operand.AsView()));
  return NodePtr(std::make_unique<JsonSchemaNode>(call.operand, std::move(schema)));
}

bson::Document ExplainMismatch(const Filter& validator, bson::View document) {
  bson::Builder out;
  Explainer(document, out).Explain(validator.root(), false);
  return out.Finish();
}

}  // namespace braid::query
