#include "engine/query/match/json_schema.h"

#include "engine/query/match/parse.h"

namespace braid::query {

Result<NodePtr> ParseJsonSchema(const OperatorCall& call) {
  if (!call.context.top_level) return BadValue("$jsonSchema can only be applied to the top-level document");
  if (!call.operand.Is(bson::Type::kObject)) return Status(Code::kTypeMismatch, "$jsonSchema must be an object");
  BRAID_TRY(Schema schema, Schema::Parse(call.operand.AsView()));
  return NodePtr(std::make_unique<JsonSchemaNode>(call.operand, std::move(schema)));
}

}  // namespace braid::query
