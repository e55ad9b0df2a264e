#include "engine/language/update/storage_rules.h"

#include "base/strings.h"
#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/bson/json.h"
#include "engine/bson/validate.h"
#include "engine/language/update/operators.h"
#include "engine/language/update/update.h"

namespace braid::update {
namespace {

bool IsEmptyTimestamp(const bson::Element& element) {
  return element.value.Is(bson::Type::kTimestamp) && element.value.AsTimestamp() == 0 && element.name != "_id";
}

Status CheckNoDollarFields(const bson::Value& value) {
  if (!value.Is(bson::Type::kObject) && !value.Is(bson::Type::kArray)) return {};
  for (const bson::Element& element : value.AsView()) {
    if (element.name.starts_with("$") && !IsDbRefName(element.name)) {
      return {Code::kDollarPrefixedFieldName, StrCat("The _id must not contain '$'-prefixed fields: ", element.name)};
    }
    BRAID_CHECK_OK(CheckNoDollarFields(element.value));
  }
  return {};
}

}  // namespace

bool IsDbRefName(std::string_view name) { return name == "$db" || name == "$id" || name == "$ref"; }

Status CheckDepth(bson::View document) {
  if (Depth(bson::Value(document)) <= bson::kDepthMax) return {};
  return {Code::kOverflow, StrCat("The document is nested deeper than ", bson::kDepthMax, " levels")};
}

Status CheckId(const bson::Value& id) {
  if (id.Is(bson::Type::kArray) || id.Is(bson::Type::kRegex) || id.Is(bson::Type::kUndefined)) {
    return {Code::kInvalidIdField, StrCat("The '_id' value cannot be of type ", bson::TypeName(id.type()))};
  }
  return CheckNoDollarFields(id);
}

Status CheckDollarFields(bson::View document) {
  for (const bson::Element& element : document) {
    if (!element.name.starts_with("$")) continue;
    if (IsDbRefName(element.name)) {
      return {Code::kInvalidDBRef, StrCat("A DBRef's field '", element.name, "' cannot be at the top of a document")};
    }
    return {Code::kDollarPrefixedFieldName,
            StrCat("The dollar ($) prefixed field '", element.name, "' is not allowed at the top of a document")};
  }
  return {};
}

Status CheckSameId(const bson::Value& before, const bson::Value& after) {
  if (bson::Equal(before, after) && before.missing() == after.missing()) return {};
  return {Code::kImmutableField,
          StrCat("The update would change the immutable field '_id' from ", bson::ToShell(before), " to ",
                 after.missing() ? "nothing" : bson::ToShell(after))};
}

Status CheckUpdatedSize(bson::View document) {
  if (document.size() <= bson::kDocumentBytesMax) return {};
  return {Location(17419), StrCat("Resulting document after update is larger than ", bson::kDocumentBytesMax)};
}

Status CheckUpsertedSize(bson::View document) {
  if (document.size() <= bson::kDocumentBytesMax) return {};
  return {Location(17420), StrCat("Document to upsert is larger than ", bson::kDocumentBytesMax)};
}

bson::Document WithIdFirst(bson::Document document, const bson::Value& id) {
  const bson::View view = document.view();
  if (!view.empty() && view.begin()->name == "_id") return document;
  const bson::Value own = view.Find("_id");
  std::string buffer;
  buffer.reserve(view.size() + 32);
  bson::Builder builder(std::move(buffer));
  if (!own.missing()) {
    builder.Append("_id", own);
  } else if (!id.missing()) {
    builder.Append("_id", id);
  } else {
    builder.Append("_id", bson::ObjectId::Generate());
  }
  if (own.missing()) return builder.AppendAll(view).Finish();
  for (auto it = view.begin(); it != view.end(); ++it) {
    if (it->name != "_id") builder.AppendRaw(it.raw());
  }
  return builder.Finish();
}

bson::Document FillTimestamps(bson::View document, uint64_t cluster_time) {
  bson::Builder builder;
  for (auto it = document.begin(); it != document.end(); ++it) {
    if (IsEmptyTimestamp(*it)) {
      builder.Append(it->name, bson::Timestamp{cluster_time});
    } else {
      builder.AppendRaw(it.raw());
    }
  }
  return builder.Finish();
}

Result<bson::View> PrepareForInsert(bson::View document, uint64_t cluster_time, bson::Document& changed) {
  if (document.size() > bson::kDocumentBytesMax) {
    return Status(Code::kBadValue, StrCat("object to insert too large. size in bytes: ", document.size(),
                                          ", max size: ", bson::kDocumentBytesMax));
  }
  bool has_id = false;
  bool has_empty_timestamp = false;
  for (const bson::Element& element : document) {
    has_empty_timestamp |= IsEmptyTimestamp(element);
    if (element.name != "_id") continue;
    if (has_id) return Status(Code::kBadValue, "can't have multiple _id fields in one document");
    has_id = true;
    BRAID_CHECK_OK(CheckId(element.value));
  }
  BRAID_CHECK_OK(CheckDepth(document));
  if (has_id && !has_empty_timestamp && document.begin()->name == "_id") return document;
  changed = has_empty_timestamp ? FillTimestamps(document, cluster_time) : bson::Document(document);
  changed = WithIdFirst(std::move(changed), {});
  return changed.view();
}

Result<bson::Document> PrepareForInsert(bson::View document, uint64_t cluster_time) {
  bson::Document changed;
  BRAID_TRY(const bson::View prepared, PrepareForInsert(document, cluster_time, changed));
  return prepared.bytes().data() == document.bytes().data() ? bson::Document(document) : std::move(changed);
}

}  // namespace braid::update
