#include "engine/commands/arg_reader.h"

#include <algorithm>

#include "base/strings.h"
#include "engine/bson/number.h"

namespace braid::commands {
namespace {

// Fields that any command may carry: read by envelope.cc or without effect here.
constexpr std::string_view kCommonFields[] = {
    "$audit",
    "$client",
    "$clusterTime",
    "$configTime",
    "$configServerState",
    "$db",
    "$queryOptions",
    "$readPreference",
    "$replData",
    "$topologyTime",
    "apiDeprecationErrors",
    "apiStrict",
    "apiVersion",
    "autocommit",
    "clientOperationKey",
    "comment",
    "lsid",
    "maxTimeMS",
    "maxTimeMSOpOnly",
    "readConcern",
    "serialization_context",
    "startTransaction",
    "stmtId",
    "stmtIds",
    "txnNumber",
    "writeConcern",
};

}  // namespace

bool IsCommonField(std::string_view name) {
  return std::find(std::begin(kCommonFields), std::end(kCommonFields), name) != std::end(kCommonFields);
}

ArgReader::ArgReader(const Request& request) : where_(request.name), top_level_(true) {
  for (const bson::Element& element : request.body) fields_.push_back({element});
  for (const DocumentSequence& sequence : request.sequences) sequences_.push_back(&sequence);
}

ArgReader::ArgReader(bson::View object, std::string_view where) : where_(where) {
  for (const bson::Element& element : object) fields_.push_back({element});
}

void ArgReader::Fail(Status status) {
  if (problem_.ok()) problem_ = std::move(status);
}

void ArgReader::WrongType(std::string_view name, const bson::Value& value, std::string_view expected) {
  Fail(Status(Code::kTypeMismatch, StrCat("BSON field '", where_, ".", name, "' is the wrong type '",
                                          bson::TypeName(value.type()), "', expected type '", expected, "'")));
}

bson::Value ArgReader::Take(std::string_view name, bool required) {
  bson::Value found;
  for (Field& field : fields_) {
    if (field.element.name != name) continue;
    if (!found.missing()) {
      Fail(Status(Location(40413), StrCat("BSON field '", where_, ".", name, "' is a duplicate field")));
    }
    field.used = true;
    found = field.element.value;
  }
  if (found.missing() && required) {
    Fail(Status(Location(40414), StrCat("BSON field '", where_, ".", name, "' is missing but a required field")));
  }
  return found;
}

bool ArgReader::Read(std::string_view name, bool required, std::string_view& out) {
  const bson::Value value = Take(name, required);
  if (value.missing()) return false;
  if (!value.Is(bson::Type::kString)) {
    WrongType(name, value, "string");
    return false;
  }
  out = value.AsString();
  return true;
}

bool ArgReader::Read(std::string_view name, bool required, bson::View& out) {
  const bson::Value value = Take(name, required);
  if (value.missing() || (value.Is(bson::Type::kNull) && !required)) return false;
  if (!value.Is(bson::Type::kObject)) {
    WrongType(name, value, "object");
    return false;
  }
  out = value.AsView();
  return true;
}

bool ArgReader::Read(std::string_view name, bool required, bson::Value& out) {
  const bson::Value value = Take(name, required);
  if (value.missing()) return false;
  out = value;
  return true;
}

bool ArgReader::Read(std::string_view name, bool required, int64_t& out) {
  const bson::Value value = Take(name, required);
  if (value.missing() || (value.Is(bson::Type::kNull) && !required)) return false;
  if (!value.IsNumber()) {
    WrongType(name, value, "long");
    return false;
  }
  out = bson::Number::Of(value).ToInt64Clamped();
  return true;
}

bool ArgReader::Read(std::string_view name, bool required, bool& out) {
  const bson::Value value = Take(name, required);
  if (value.missing() || (value.Is(bson::Type::kNull) && !required)) return false;
  if (!value.Is(bson::Type::kBool) && !value.IsNumber()) {
    WrongType(name, value, "bool");
    return false;
  }
  out = bson::IsTruthy(value);
  return true;
}

void ArgReader::ReadDocuments(std::string_view name, bool required, std::vector<bson::View>& out) {
  for (const DocumentSequence* sequence : sequences_) {
    if (sequence->name != name) continue;
    out = sequence->documents;
    return;
  }
  const bson::Value value = Take(name, required);
  if (value.missing()) return;
  if (!value.Is(bson::Type::kArray)) return WrongType(name, value, "array");
  for (const bson::Element& element : value.AsView()) {
    if (!element.value.Is(bson::Type::kObject)) {
      return WrongType(StrCat(name, ".", element.name), element.value, "object");
    }
    out.push_back(element.value.AsView());
  }
}

void ArgReader::OptionalArray(std::string_view name, std::optional<bson::View>& out) {
  const bson::Value value = Take(name, false);
  if (value.missing()) return;
  if (!value.Is(bson::Type::kArray)) return WrongType(name, value, "array");
  out = value.AsView();
}

void ArgReader::Collection(std::string_view name, std::string_view& out) {
  const bson::Value value = Take(name, true);
  if (value.missing()) return;
  if (!value.Is(bson::Type::kString)) {
    return Fail(
        Status(Code::kInvalidNamespace, StrCat("collection name has invalid type ", bson::TypeName(value.type()))));
  }
  out = value.AsString();
}

void ArgReader::Ignore(std::initializer_list<std::string_view> names) {
  for (std::string_view name : names) Take(name, false);
}

void ArgReader::Refuse(std::initializer_list<std::string_view> names, std::string_view why) {
  for (std::string_view name : names) {
    if (Take(name, false).missing()) continue;
    Fail(Status(Code::kCommandNotSupported, StrCat("'", where_, ".", name, "' is not supported: ", why)));
  }
}

void ArgReader::AtLeast(std::string_view name, int64_t value, int64_t least) {
  Check(value >= least, Location(51024),
        StrCat("BSON field '", name, "' value must be >= ", least, ", actual value '", value, "'"));
}

void ArgReader::Check(bool condition, Code code, std::string message) {
  if (!condition) Fail(Status(code, std::move(message)));
}

Status ArgReader::Finish() {
  if (!problem_.ok()) return problem_;
  for (const Field& field : fields_) {
    if (field.used || (top_level_ && IsCommonField(field.element.name))) continue;
    return Status(Location(40415), StrCat("BSON field '", where_, ".", field.element.name, "' is an unknown field."));
  }
  return {};
}

}  // namespace braid::commands
