// A collection's description as BSON, and what its options mean.
#include "base/strings.h"
#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "engine/bson/number.h"
#include "engine/catalog/collection.h"

namespace braid::catalog {
namespace {

using bson::Type;
using bson::Value;

struct LevelName {
  ValidationLevel level;
  std::string_view name;
};
constexpr LevelName kLevels[] = {
    {ValidationLevel::kModerate, "moderate"}, {ValidationLevel::kOff, "off"}, {ValidationLevel::kStrict, "strict"}};
struct ActionName {
  ValidationAction action;
  std::string_view name;
};
constexpr ActionName kActions[] = {{ValidationAction::kError, "error"}, {ValidationAction::kWarn, "warn"}};

std::string_view NameOf(ValidationLevel level) {
  for (const LevelName& known : kLevels) {
    if (known.level == level) return known.name;
  }
  return "strict";
}

std::string_view NameOf(ValidationAction action) { return action == ValidationAction::kWarn ? "warn" : "error"; }

Result<std::string_view> StringOption(bson::View options, std::string_view name) {
  const Value value = options.Find(name);
  if (value.missing()) return std::string_view();
  if (!value.Is(Type::kString)) {
    return Status(Code::kTypeMismatch,
                  StrCat("The field '", name, "' must be a string, but got ", bson::TypeName(value.type())));
  }
  return value.AsString();
}

Status UnknownValue(std::string_view option, std::string_view value) {
  return {Code::kBadValue, StrCat("Enumeration value '", value, "' for field '", option, "' is not a valid value.")};
}

Status ParseValidator(Collection* collection) {
  collection->validator = query::Filter();
  if (!collection->validator_spec) return {};
  auto environment = std::make_shared<query::Environment>();
  environment->collation = collection->collation;
  BRAID_TRY(collection->validator, query::Filter::Parse(*collection->validator_spec, environment));
  return {};
}

Result<std::shared_ptr<const Index>> ParseIndex(const Value& stored) {
  const bson::View view = stored.AsView();
  auto index = std::make_shared<Index>();
  index->number = static_cast<uint32_t>(view.Find("number").AsInt64());
  index->building = view.Find("building").AsBool();
  BRAID_TRY(index->spec, IndexSpec::Parse(view.Find("spec").AsView(), nullptr));
  return std::shared_ptr<const Index>(std::move(index));
}

Status Damaged(const Namespace& ns, std::string_view what) {
  return {Code::kStorageCorrupt, StrCat("the description of ", ns.ToString(), " is damaged: ", what)};
}

}  // namespace

Status ApplyOptions(Collection* collection) {
  const bson::View options = collection->options;
  if (const Value collation = options.Find("collation"); !collation.missing()) {
    if (!collation.Is(Type::kObject)) {
      return {Code::kTypeMismatch, "The field 'collation' must be an object"};
    }
    BRAID_TRY(collection->collation, bson::Collation::Parse(collation.AsView()));
  }
  if (const Value validator = options.Find("validator"); !validator.missing()) {
    if (!validator.Is(Type::kObject)) return {Code::kTypeMismatch, "The field 'validator' must be an object"};
    if (!validator.AsView().empty()) collection->validator_spec = bson::Document(validator.AsView());
  }
  BRAID_TRY(std::string_view level, StringOption(options, "validationLevel"));
  if (!level.empty()) {
    const auto* known = std::find_if(std::begin(kLevels), std::end(kLevels),
                                     [level](const LevelName& candidate) { return candidate.name == level; });
    if (known == std::end(kLevels)) return UnknownValue("validationLevel", level);
    collection->validation_level = known->level;
  }
  BRAID_TRY(std::string_view action, StringOption(options, "validationAction"));
  if (!action.empty()) {
    const auto* known = std::find_if(std::begin(kActions), std::end(kActions),
                                     [action](const ActionName& candidate) { return candidate.name == action; });
    if (known == std::end(kActions)) return UnknownValue("validationAction", action);
    collection->validation_action = known->action;
  }
  return ParseValidator(collection);
}

Status UpdateOptions(const Collection& before, Collection* collection) {
  if (collection->validator_spec && collection->validator_spec->empty()) collection->validator_spec.reset();
  BRAID_CHECK_OK(ParseValidator(collection));
  const bson::View old = before.options;
  bson::Builder options;
  for (auto element = old.begin(); element != old.end(); ++element) {
    const std::string_view name = element->name;
    if (name != "validator" && name != "validationLevel" && name != "validationAction") {
      options.AppendRaw(element.raw());
    }
  }
  if (collection->validator_spec) options.Append("validator", *collection->validator_spec);
  if (old.Has("validationLevel") || collection->validation_level != before.validation_level) {
    options.Append("validationLevel", NameOf(collection->validation_level));
  }
  if (old.Has("validationAction") || collection->validation_action != before.validation_action) {
    options.Append("validationAction", NameOf(collection->validation_action));
  }
  collection->options = options.Finish();
  return {};
}

bson::Document DescriptionOf(const Collection& collection) {
  bson::Builder out;
  out.Append("number", static_cast<int64_t>(collection.number));
  out.Append("uuid", bson::Binary{4, collection.uuid});
  out.Append("placement", sharding::ToBson(*collection.placement));
  out.Append("options", collection.options);
  out.OpenArray("indexes");
  for (const auto& index : collection.indexes) {
    out.OpenNextObject();
    out.Append("number", static_cast<int64_t>(index->number));
    out.Append("building", index->building);
    out.Append("spec", index->spec.ToBson());
    out.Close();
  }
  out.Close();
  return out.Finish();
}

Result<std::shared_ptr<Collection>> ParseDescription(Namespace ns, bson::View description) {
  auto collection = std::make_shared<Collection>();
  collection->ns = std::move(ns);
  const Value number = description.Find("number");
  const Value uuid = description.Find("uuid");
  const Value placement = description.Find("placement");
  const Value options = description.Find("options");
  const Value indexes = description.Find("indexes");
  if (!number.Is(Type::kInt64) || !uuid.Is(Type::kBinary) || !placement.Is(Type::kObject) ||
      !options.Is(Type::kObject) || !indexes.Is(Type::kArray)) {
    return Damaged(collection->ns, bson::ToShell(description));
  }
  collection->number = static_cast<uint32_t>(number.AsInt64());
  collection->uuid = std::string(uuid.AsBinary().bytes);
  BRAID_TRY(sharding::Placement placed, sharding::ParsePlacement(placement.AsView()));
  collection->placement = std::make_shared<sharding::Placement>(std::move(placed));
  collection->options = bson::Document(options.AsView());
  collection->state = std::make_shared<CollectionState>();
  if (Status status = ApplyOptions(collection.get()); !status.ok()) return Damaged(collection->ns, status.message());
  for (const bson::Element& stored : indexes.AsView()) {
    auto index = ParseIndex(stored.value);
    if (!index.ok()) return Damaged(collection->ns, index.error().message());
    collection->indexes.push_back(*std::move(index));
  }
  if (collection->indexes.empty() || collection->indexes.front()->number != 0) {
    return Damaged(collection->ns, "its first index is not that of _id");
  }
  return collection;
}

}  // namespace braid::catalog
