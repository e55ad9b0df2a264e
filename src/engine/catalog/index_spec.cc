// IndexSpec::Parse: the checks of createIndexes, with MongoDB's codes.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/strings.h"
#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/bson/json.h"
#include "engine/bson/number.h"
#include "engine/bson/validate.h"
#include "engine/catalog/index.h"

namespace braid::catalog {
namespace {

using bson::Type;
using bson::Value;
using bson::View;

// Options of other kinds of index, and what MongoDB keeps for itself: known, and refused by name.
constexpr std::array<std::string_view, 13> kRefusedOptions = {"2dsphereIndexVersion",
                                                              "bits",
                                                              "bucketSize",
                                                              "clustered",
                                                              "default_language",
                                                              "language_override",
                                                              "max",
                                                              "min",
                                                              "prepareUnique",
                                                              "storageEngine",
                                                              "textIndexVersion",
                                                              "weights",
                                                              "wildcardProjection"};
static_assert(std::is_sorted(kRefusedOptions.begin(), kRefusedOptions.end()));

constexpr std::array<std::string_view, 5> kRefusedKinds = {"2d", "2dsphere", "geoHaystack", "text", "wildcard"};
static_assert(std::is_sorted(kRefusedKinds.begin(), kRefusedKinds.end()));

template <size_t N>
bool Contains(const std::array<std::string_view, N>& sorted, std::string_view name) {
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

Status CannotCreate(std::string message) { return {Code::kCannotCreateIndex, std::move(message)}; }

Status WrongType(std::string_view field, std::string_view wanted, const Value& got) {
  return {Code::kTypeMismatch,
          StrCat("The field '", field, "' must be ", wanted, ", but got ", bson::TypeName(got.type()))};
}

Status CheckFieldName(std::string_view path) {
  if (path.empty()) return CannotCreate("Index keys cannot be an empty field.");
  if (path == "$**" || path.ends_with(".$**")) {
    return CannotCreate(StrCat("Wildcard indexes are not supported: '", path, "'"));
  }
  BRAID_CHECK_OK(bson::CheckPathLength(path));
  const auto parts = Split(path, '.');
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].empty()) return CannotCreate("Index keys cannot contain an empty field.");
    const bool of_dbref = i > 0 && (parts[i] == "$ref" || parts[i] == "$id" || parts[i] == "$db");
    if (parts[i].front() == '$' && !of_dbref) {
      return CannotCreate("Index key contains an illegal field name: field name starts with '$'.");
    }
  }
  return {};
}

Result<IndexField> ParseField(const bson::Element& element) {
  const Value& value = element.value;
  BRAID_CHECK_OK(CheckFieldName(element.name));
  IndexField field{.path = std::string(element.name)};
  if (value.Is(Type::kString)) {
    const std::string_view kind = value.AsString();
    if (kind.empty()) return CannotCreate("Values in the index key pattern cannot be empty strings.");
    if (Contains(kRefusedKinds, kind)) return CannotCreate(StrCat("Indexes of type '", kind, "' are not supported"));
    if (kind != "hashed") return CannotCreate(StrCat("Unknown index plugin '", kind, "'"));
    field.hashed = true;
    return field;
  }
  if (!value.IsNumber()) {
    return CannotCreate(StrCat("Values in v:2 index key pattern cannot be of type ", bson::TypeName(value.type()),
                               ". Only numbers > 0, numbers < 0, and strings are allowed."));
  }
  const bson::Number number = bson::Number::Of(value);
  if (number.IsNaN()) return CannotCreate("Values in the index key pattern cannot be NaN.");
  const double direction = number.ToDouble();
  if (direction == 0) return CannotCreate("Values in the index key pattern cannot be 0.");
  field.descending = direction < 0;
  return field;
}

Status ParseKey(View key, IndexSpec* spec) {
  if (key.empty()) return CannotCreate("Index keys cannot be empty.");
  for (const bson::Element& element : key) {
    for (const IndexField& earlier : spec->fields) {
      if (earlier.path == element.name) {
        return {Code::kBadValue, StrCat("The field '", element.name,
                                        "' appears multiple times in the index key pattern ", bson::ToShell(key))};
      }
    }
    BRAID_TRY(IndexField field, ParseField(element));
    spec->fields.push_back(std::move(field));
    if (spec->fields.size() > IndexSpec::kFieldsMax) return {Location(13103), "too many compound keys"};
  }
  const auto hashed = std::count_if(spec->fields.begin(), spec->fields.end(), [](auto& field) { return field.hashed; });
  if (hashed > 1) {
    return {Location(31303), StrCat("A maximum of one index field is allowed to be hashed but found ", hashed, " for ",
                                    bson::ToShell(key))};
  }
  spec->key_pattern = bson::Document(key);
  return {};
}

bool IsIdPattern(View key) {
  if (key.Count() != 1 || key.begin()->name != "_id" || !key.begin()->value.IsNumber()) return false;
  const auto direction = bson::Number::Of(key.begin()->value).ToInt64Exact();
  return direction == 1 || direction == -1;
}

Status ParseFlag(const bson::Element& element, bool* flag) {
  if (!element.value.Is(Type::kBool) && !element.value.IsNumber()) {
    return WrongType(element.name, "a boolean or a number", element.value);
  }
  *flag = bson::IsTruthy(element.value);
  return {};
}

Status ParseVersion(const Value& value) {
  if (!value.IsNumber()) return WrongType("v", "a number", value);
  const auto version = bson::Number::Of(value).ToInt64Exact();
  if (!version) return {Code::kBadValue, "Index version must be representable as a 32-bit integer"};
  if (*version != 1 && *version != 2) return CannotCreate(StrCat("Invalid index version v: ", *version));
  return {};
}

Result<std::shared_ptr<const bson::Collation>> ParseCollation(const Value& value) {
  if (!value.Is(Type::kObject)) return WrongType("collation", "an object", value);
  if (value.AsView().empty()) return Status(Code::kBadValue, "The field 'collation' cannot be an empty object.");
  return bson::Collation::Parse(value.AsView());
}

/// Everything but the TTL rules, whose messages stand alone.
Status ParseFields(View specification, std::shared_ptr<const bson::Collation> default_collation, IndexSpec* spec) {
  const Value key = specification.Find("key");
  if (key.missing()) {
    return {Code::kFailedToParse, "The 'key' field is a required property of an index specification"};
  }
  if (!key.Is(Type::kObject)) return WrongType("key", "an object", key);
  BRAID_CHECK_OK(ParseKey(key.AsView(), spec));
  const Value name = specification.Find("name");
  if (name.missing()) {
    return {Code::kFailedToParse, "The 'name' field is a required property of an index specification"};
  }
  if (!name.Is(Type::kString)) return WrongType("name", "a string", name);
  spec->name = std::string(name.AsString());
  spec->collation = std::move(default_collation);

  const bool is_id = IsIdPattern(key.AsView());
  for (const bson::Element& element : specification) {
    const std::string_view field = element.name;
    if (field == "key" || field == "name") continue;
    if (field == "collation") {
      BRAID_TRY(spec->collation, ParseCollation(element.value));
    } else if (field == "v") {
      BRAID_CHECK_OK(ParseVersion(element.value));
    } else if (field == "ns") {
      if (!element.value.Is(Type::kString)) return WrongType(field, "a string", element.value);
    } else if (is_id) {
      return {Code::kInvalidIndexSpecificationOption,
              StrCat("The field '", field,
                     "' is not valid for an _id index specification. Specification: ", bson::ToShell(specification))};
    } else if (field == "unique") {
      BRAID_CHECK_OK(ParseFlag(element, &spec->unique));
    } else if (field == "sparse") {
      BRAID_CHECK_OK(ParseFlag(element, &spec->sparse));
    } else if (field == "hidden") {
      BRAID_CHECK_OK(ParseFlag(element, &spec->hidden));
    } else if (field == "background") {  // every build is
      bool background = false;
      BRAID_CHECK_OK(ParseFlag(element, &background));
      spec->background = background;
    } else if (field == "dropDups") {  // no build does
      bool ignored = false;
      BRAID_CHECK_OK(ParseFlag(element, &ignored));
    } else if (field == "partialFilterExpression") {
      if (!element.value.Is(Type::kObject)) return WrongType(field, "an object", element.value);
      spec->partial_filter = bson::Document(element.value.AsView());
    } else if (Contains(kRefusedOptions, field)) {
      return CannotCreate(StrCat("The index option '", field, "' is not supported"));
    } else if (field != "expireAfterSeconds") {
      return {Code::kInvalidIndexSpecificationOption,
              StrCat("The field '", field,
                     "' is not valid for an index specification. Specification: ", bson::ToShell(specification))};
    }
  }
  if (is_id) {
    if (spec->fields[0].descending) {
      return {Code::kBadValue,
              StrCat("The field 'key' for an _id index must be {_id: 1}, but got ", bson::ToShell(key.AsView()))};
    }
    spec->name = "_id_";
    return {};
  }
  if (spec->name.empty()) return CannotCreate("index name cannot be empty");
  if (spec->name.find('\0') != std::string::npos) return CannotCreate("index name cannot contain NUL bytes");
  if (spec->name == "*" || spec->name == "_id_") {
    return {Code::kBadValue, StrCat("The index name '", spec->name, "' is reserved")};
  }
  if (spec->unique && spec->is_hashed()) {
    return {Location(16764), "Currently hashed indexes cannot guarantee uniqueness. Use a regular index."};
  }
  if (spec->partial_filter) {
    if (spec->sparse) return CannotCreate("cannot mix \"partialFilterExpression\" and \"sparse\" options");
    BRAID_TRY(spec->partial, ParsePartialFilter(*spec->partial_filter, spec->collation));
  }
  return {};
}

Status ParseTtl(View specification, IndexSpec* spec) {
  const Value value = specification.Find("expireAfterSeconds");
  if (value.missing()) return {};
  const std::string behind = StrCat(". Index spec: ", bson::ToShell(specification));
  if (!value.IsNumber()) {
    return CannotCreate(StrCat("TTL index 'expireAfterSeconds' option must be numeric, but received a type of '",
                               bson::TypeName(value.type()), "'", behind));
  }
  if (spec->fields.size() > 1) {
    return CannotCreate(StrCat("TTL indexes are single-field indexes, compound indexes do not support TTL", behind));
  }
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  const bson::Number number = bson::Number::Of(value);
  const int64_t seconds = number.IsNaN() ? kMax : number.ToInt64Clamped();
  if (seconds < 0) {
    return CannotCreate(StrCat("TTL index 'expireAfterSeconds' option cannot be less than 0", behind));
  }
  if (seconds > kMax) {
    return CannotCreate(
        StrCat("TTL index 'expireAfterSeconds' option must be within an acceptable range, try a "
               "different number than ",
               seconds, behind));
  }
  spec->expire_after_seconds = seconds;
  return {};
}

void SetPaths(IndexSpec* spec) {
  std::vector<std::string_view> paths;
  for (const IndexField& field : spec->fields) paths.push_back(field.path);
  spec->paths = query::KeyPaths(paths);
}

}  // namespace

bool IndexSpec::is_hashed() const {
  return std::any_of(fields.begin(), fields.end(), [](const IndexField& field) { return field.hashed; });
}

Result<IndexSpec> IndexSpec::Parse(View specification, std::shared_ptr<const bson::Collation> default_collation) {
  IndexSpec spec;
  if (Status status = ParseFields(specification, std::move(default_collation), &spec); !status.ok()) {
    return status.CausedBy(StrCat("Error in specification ", bson::ToShell(specification)));
  }
  BRAID_CHECK_OK(ParseTtl(specification, &spec));
  SetPaths(&spec);
  return spec;
}

IndexSpec IndexSpec::Id(std::shared_ptr<const bson::Collation> collation) {
  IndexSpec spec;
  spec.name = "_id_";
  spec.key_pattern = bson::Make("_id", 1);
  spec.fields.push_back({.path = "_id"});
  spec.collation = std::move(collation);
  SetPaths(&spec);
  return spec;
}

bson::Document IndexSpec::ToBson() const {
  bson::Builder out;
  out.Append("v", 2).Append("key", key_pattern).Append("name", name);
  if (unique) out.Append("unique", true);
  if (sparse) out.Append("sparse", true);
  if (background) out.Append("background", *background);
  if (hidden) out.Append("hidden", true);
  if (expire_after_seconds) out.Append("expireAfterSeconds", static_cast<int32_t>(*expire_after_seconds));
  if (partial_filter) out.Append("partialFilterExpression", *partial_filter);
  if (collation != nullptr) out.Append("collation", collation->spec());
  return out.Finish();
}

Result<bool> IndexSpec::CompareWith(const IndexSpec& existing) const {
  const auto same_filter = [&] {
    if (partial_filter.has_value() != existing.partial_filter.has_value()) return false;
    return !partial_filter || bson::Compare(*partial_filter, *existing.partial_filter) == 0;
  };
  const bool same_key = bson::Compare(key_pattern, existing.key_pattern) == 0;
  const bool same_collation = bson::Collation::Same(collation.get(), existing.collation.get());
  const bool identical =
      same_key && same_collation && unique == existing.unique && sparse == existing.sparse && same_filter();
  if (name != existing.name) {
    if (!identical) return false;
    return Status(Code::kIndexOptionsConflict, StrCat("Index already exists with a different name: ", existing.name));
  }
  if (!same_key || !same_collation) {
    return Status(Code::kIndexKeySpecsConflict,
                  StrCat("Index must have unique name. The existing index: ", bson::ToShell(existing.ToBson()),
                         " has the same name as the requested index: ", bson::ToShell(ToBson())));
  }
  if (!identical || expire_after_seconds != existing.expire_after_seconds || hidden != existing.hidden) {
    return Status(Code::kIndexOptionsConflict,
                  StrCat("Index with name: ", name, " already exists with different options"));
  }
  return true;
}

}  // namespace braid::catalog
