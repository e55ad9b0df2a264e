#include "engine/txn/record_errors.h"

#include "base/log.h"
#include "base/strings.h"
#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "engine/language/match/json_schema.h"

namespace braid::txn {

Status DuplicateKey(const catalog::Collection& collection, const catalog::IndexSpec& spec, bson::View values) {
  bson::Builder builder;
  for (size_t i = 0; i < spec.fields.size(); ++i) {
    const bson::Value value = values.Find(StrCat(i));
    if (value.missing()) {
      builder.Append(spec.fields[i].path, bson::Null{});
    } else if (spec.collation != nullptr && value.Is(bson::Type::kString)) {
      builder.Append(spec.fields[i].path, StrCat("0x", Hex(spec.collation->SortKey(value.AsString()))));
    } else {
      builder.Append(spec.fields[i].path, value);
    }
  }
  const bson::Document key_value = builder.Finish();
  std::string collation;
  if (spec.collation != nullptr) collation = StrCat(" collation: ", bson::ToShell(spec.collation->spec()));
  const Status status(Code::kDuplicateKey,
                      StrCat("E11000 duplicate key error collection: ", collection.ns.ToString(), " index: ", spec.name,
                             collation, " dup key: ", bson::ToShell(key_value)));
  return status.WithDetails(bson::Make("keyPattern", spec.key_pattern, "keyValue", key_value).bytes());
}

Status CheckValidator(const catalog::Collection& collection, const bson::View* before, bson::View after) {
  if (!collection.validator_spec || collection.validation_level == catalog::ValidationLevel::kOff) return {};
  BRAID_TRY(bool valid, collection.validator.Matches(after));
  if (valid) return {};
  if (before != nullptr && collection.validation_level == catalog::ValidationLevel::kModerate) {
    BRAID_TRY(bool was_valid, collection.validator.Matches(*before));
    if (!was_valid) return {};
  }
  if (collection.validation_action == catalog::ValidationAction::kWarn) {
    log::warn("{}: a document fails validation and is stored: _id {}", collection.ns.ToString(),
              bson::ToShell(after.Find("_id")));
    return {};
  }
  bson::Builder details;
  details.OpenObject("errInfo").Append("failingDocumentId", after.Find("_id"));
  details.Append("details", query::ExplainMismatch(collection.validator, after)).Close();
  return Status(Code::kDocumentValidationFailure, "Document failed validation").WithDetails(details.Finish().bytes());
}

}  // namespace braid::txn
