// $merge: the result, document by document, into a collection. Here the specification is checked; the host writes.
#include <algorithm>

#include "base/strings.h"
#include "engine/exec/pipeline/stage.h"
#include "engine/language/expression/operators.h"

namespace braid::query::pipeline {
namespace {

using bson::Type;

class Merge final : public WriteStage {
 public:
  Merge(std::string_view name, const bson::Value& written, bson::Document specification,
        std::shared_ptr<PipelineHost> host)
      : WriteStage(name, written), specification_(std::move(specification)), host_(std::move(host)) {}

 protected:
  Status Write(txn::Context& context, bson::View document) override {
    return host_->Merge(context, document, specification_);
  }

 private:
  const bson::Document specification_;
  const std::shared_ptr<PipelineHost> host_;
};

constexpr std::string_view kFields[] = {"into", "let", "on", "whenMatched", "whenNotMatched"};
constexpr std::string_view kWhenMatched[] = {"fail", "keepExisting", "merge", "replace"};
constexpr std::string_view kWhenNotMatched[] = {"discard", "fail", "insert"};
static_assert(std::ranges::is_sorted(kFields));
static_assert(std::ranges::is_sorted(kWhenMatched));
static_assert(std::ranges::is_sorted(kWhenNotMatched));

Status WrongType(int code, std::string_view field, std::string_view expected, const bson::Value& value) {
  return {Location(code),
          StrCat("$merge '", field, "' field must be ", expected, ", but found ", bson::TypeName(value.type()))};
}

Result<catalog::Namespace> TargetOf(const bson::Value& into, std::string_view database) {
  if (into.Is(Type::kString)) return catalog::Namespace::Make(database, into.AsString());
  if (!into.Is(Type::kObject)) return WrongType(51178, "into", "either a string or an object", into);
  std::string_view collection;
  for (const bson::Element& field : into.AsView()) {
    if (field.name != "db" && field.name != "coll")
      return Status(Location(40415), StrCat("BSON field 'into.", field.name, "' is an unknown field."));
    if (!field.value.Is(Type::kString)) {
      return Status(Code::kTypeMismatch, StrCat("BSON field 'into.", field.name, "' is the wrong type '",
                                                bson::TypeName(field.value.type()), "', expected type 'string'"));
    }
    (field.name == "db" ? database : collection) = field.value.AsString();
  }
  if (collection.empty())
    return Status(Location(51178), "$merge 'into' field must specify a 'coll' that is not empty, null or undefined");
  return catalog::Namespace::Make(database, collection);
}

Status CheckOn(const bson::Value& on) {
  if (on.Is(Type::kString)) return CheckFieldPath(on.AsString());
  if (!on.Is(Type::kArray)) return WrongType(51186, "on", "either a string or an array of strings", on);
  if (on.AsView().empty())
    return {Location(51187), "If explicitly specifying $merge 'on', must include at least one field"};
  std::set<std::string_view> seen;
  for (const bson::Element& element : on.AsView()) {
    if (!element.value.Is(Type::kString)) {
      return {Location(51134),
              StrCat("$merge 'on' array elements must be strings, but found ", bson::TypeName(element.value.type()))};
    }
    BRAID_CHECK_OK(CheckFieldPath(element.value.AsString()));
    if (!seen.insert(element.value.AsString()).second)
      return {Location(31465), StrCat("Found a duplicate field '", element.value.AsString(), "'")};
  }
  return {};
}

Status CheckMode(std::string_view field, std::span<const std::string_view> modes, std::string_view mode) {
  if (std::ranges::binary_search(modes, mode)) return {};
  return {Code::kBadValue, StrCat("Enumeration value '", mode, "' for field '", field, "' is not a valid value.")};
}

Status CheckModes(const bson::Value& when_matched, const bson::Value& when_not_matched) {
  if (!when_not_matched.missing() && !when_not_matched.Is(Type::kString)) {
    return {Code::kTypeMismatch, StrCat("BSON field '$merge.whenNotMatched' is the wrong type '",
                                        bson::TypeName(when_not_matched.type()), "', expected type 'string'")};
  }
  const std::string_view otherwise = when_not_matched.missing() ? "insert" : when_not_matched.AsString();
  BRAID_CHECK_OK(CheckMode("whenNotMatched", kWhenNotMatched, otherwise));
  if (when_matched.missing() || when_matched.Is(Type::kArray)) return {};
  if (!when_matched.Is(Type::kString))
    return WrongType(51191, "whenMatched", "either a string or an array", when_matched);
  const std::string_view mode = when_matched.AsString();
  BRAID_CHECK_OK(CheckMode("whenMatched", kWhenMatched, mode));
  if ((mode == "fail" || mode == "keepExisting") && otherwise != "insert") {
    return {Location(51181),
            StrCat("Combination of {whenMatched: ", mode, "} and {whenNotMatched: ", otherwise, "} is not supported")};
  }
  return {};
}

/// Adds the variables of `let` to what the pipeline of whenMatched may use.
Status CheckLet(const bson::Value& let, const bson::Value& when_matched, Environment* environment) {
  environment->variables.emplace_back("new", bson::OwnedValue(bson::Arena::Null()));
  if (let.missing()) return {};
  if (!let.Is(Type::kObject)) {
    return {Code::kTypeMismatch, StrCat("BSON field '$merge.let' is the wrong type '", bson::TypeName(let.type()),
                                        "', expected type 'object'")};
  }
  if (!when_matched.Is(Type::kArray)) {
    return {Location(51199), StrCat("Cannot use 'let' variables with 'whenMatched: ",
                                    when_matched.missing() ? "merge" : when_matched.AsString(), "' mode")};
  }
  for (const bson::Element& variable : let.AsView()) {
    if (variable.name == "new") {
      if (variable.value.Is(Type::kString) && variable.value.AsString() == "$$ROOT") continue;
      return {Location(51273), "'let' may not define a value for the reserved 'new' variable other than '$$ROOT'"};
    }
    BRAID_CHECK_OK(CheckVariableName(variable.name, /*write=*/true));
    BRAID_CHECK_OK(ParseExpression(variable.value, *environment));
  }
  for (const bson::Element& variable : let.AsView())
    environment->variables.emplace_back(variable.name, bson::OwnedValue(bson::Arena::Null()));
  return {};
}

/// The stages of a whenMatched pipeline are those of an update.
Status CheckUpdatePipeline(const bson::Value& pipeline, const PipelineOptions& options) {
  std::vector<StagePtr> stages;
  StageParser parser{options, stages};
  for (const bson::Element& element : pipeline.AsView()) {
    BRAID_TRY(const bson::Element stage, SplitStage(element.value));
    BRAID_TRY(const StageDefinition* definition, FindStage(stage.name));
    if ((definition->place & kInUpdate) == 0)
      return {Code::kInvalidOptions, StrCat(stage.name, " is not allowed to be used within an update")};
    BRAID_CHECK_OK(definition->parse(parser, stage.name, stage.value));
  }
  return {};
}

Status CheckSpecification(bson::View specification, const PipelineOptions& options) {
  for (const bson::Element& field : specification) {
    if (!std::ranges::binary_search(kFields, field.name))
      return {Location(40415), StrCat("BSON field '$merge.", field.name, "' is an unknown field.")};
  }
  const bson::Value into = specification.Find("into");
  if (into.missing()) return {Location(40414), "BSON field '$merge.into' is missing but a required field"};
  BRAID_TRY(const catalog::Namespace target, TargetOf(into, options.ns.database));
  BRAID_CHECK_OK(CheckTarget("$merge", target, {.internal_database = 31320, .special_collection = 31319}));
  if (const bson::Value on = specification.Find("on"); !on.missing()) BRAID_CHECK_OK(CheckOn(on));
  const bson::Value when_matched = specification.Find("whenMatched");
  BRAID_CHECK_OK(CheckModes(when_matched, specification.Find("whenNotMatched")));
  auto environment = std::make_shared<Environment>(*options.environment);
  BRAID_CHECK_OK(CheckLet(specification.Find("let"), when_matched, environment.get()));
  if (!when_matched.Is(Type::kArray)) return {};
  PipelineOptions inner = options;
  inner.environment = std::move(environment);
  return CheckUpdatePipeline(when_matched, inner);
}

}  // namespace

Status ParseMerge(StageParser& parser, std::string_view name, const bson::Value& specification) {
  bson::Document full;
  if (specification.Is(Type::kString)) {
    full = bson::Make("into", specification);
  } else if (specification.Is(Type::kObject)) {
    full = bson::Document(specification.AsView());
  } else {
    return {Location(51182),
            StrCat("$merge only supports a string or object argument, not ", bson::TypeName(specification.type()))};
  }
  BRAID_CHECK_OK(CheckSpecification(full, parser.options));
  parser.stages.push_back(std::make_unique<Merge>(name, specification, std::move(full), parser.options.host));
  return {};
}

}  // namespace braid::query::pipeline
