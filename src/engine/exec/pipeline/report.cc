// $collStats, $currentOp, $indexStats, $listLocalSessions, $listSampledQueries, $listSessions and
// $shardedDataDistribution: documents the server makes about itself.
#include "base/strings.h"
#include "engine/exec/pipeline/stage.h"

namespace braid::query::pipeline {
namespace {

using bson::Type;

class Report final : public Stage {
 public:
  Report(std::string_view name, const bson::Value& specification, std::shared_ptr<PipelineHost> host)
      : Stage(name, specification), specification_(specification.AsView()), host_(std::move(host)) {}

 protected:
  Result<bool> Pull(txn::Context& context, bson::View* document) override {
    if (!asked_) {
      BRAID_CHECK_OK(RefuseInTransaction(context, name()));
      BRAID_TRY(rows_, host_->Report(context, name(), specification_));
      asked_ = true;
    }
    if (next_ == rows_.size()) return false;
    *document = rows_[next_++];
    return true;
  }

 private:
  const bson::Document specification_;
  const std::shared_ptr<PipelineHost> host_;
  std::vector<bson::Document> rows_;
  size_t next_ = 0;
  bool asked_ = false;
};

Status Add(StageParser& parser, std::string_view name, const bson::Value& specification) {
  parser.stages.push_back(std::make_unique<Report>(name, specification, parser.options.host));
  return {};
}

Status Unsupported(std::string_view stage, std::string_view option) {
  return {Code::kCommandNotSupported, StrCat("Braid does not support the option '", option, "' of ", stage)};
}

Status Unknown(std::string_view stage, std::string_view option) {
  return {Location(40415), StrCat("BSON field '", stage, ".", option, "' is an unknown field.")};
}

constexpr std::string_view kCurrentOpOptions[] = {"allUsers",     "backtrace", "idleConnections", "idleCursors",
                                                  "idleSessions", "localOps",  "targetAllNodes",  "truncateOps"};

Status CheckSessionOptions(std::string_view name, const bson::Value& specification) {
  if (!specification.Is(Type::kObject)) {
    return {Code::kTypeMismatch,
            StrCat(name, " options must be specified in an object, but found: ", bson::TypeName(specification.type()))};
  }
  for (const bson::Element& option : specification.AsView()) {
    if (option.name == "users") return Unsupported(name, option.name);
    if (option.name != "allUsers") return Unknown(name, option.name);
    if (!option.value.Is(Type::kBool)) {
      return {Code::kTypeMismatch, StrCat("BSON field '", name, ".allUsers' is the wrong type '",
                                          bson::TypeName(option.value.type()), "', expected type 'bool'")};
    }
  }
  return {};
}

}  // namespace

Status ParseCurrentOp(StageParser& parser, std::string_view name, const bson::Value& specification) {
  if (!specification.Is(Type::kObject)) {
    return {Code::kFailedToParse, StrCat("$currentOp options must be specified in an object, but found: ",
                                         bson::TypeName(specification.type()))};
  }
  for (const bson::Element& option : specification.AsView()) {
    if (std::ranges::find(kCurrentOpOptions, option.name) == std::end(kCurrentOpOptions))
      return {Code::kFailedToParse, StrCat("Unrecognized option '", option.name, "' in $currentOp stage.")};
    if (!option.value.Is(Type::kBool)) {
      return {Code::kFailedToParse, StrCat("The '", option.name, "' parameter of the $currentOp stage must be a ",
                                           "boolean value, but found: ", bson::TypeName(option.value.type()))};
    }
  }
  return Add(parser, name, specification);
}

Status ParseCollStats(StageParser& parser, std::string_view name, const bson::Value& specification) {
  if (!specification.Is(Type::kObject)) {
    return {Location(5447000),
            StrCat("$collStats must take a nested object but found: ", bson::TypeName(specification.type()))};
  }
  for (const bson::Element& option : specification.AsView()) {
    if (option.name == "latencyStats" || option.name == "queryExecStats") return Unsupported(name, option.name);
    if (option.name != "count" && option.name != "storageStats") return Unknown(name, option.name);
    if (!option.value.Is(Type::kObject)) {
      return {Code::kTypeMismatch, StrCat("BSON field '$collStats.", option.name, "' is the wrong type '",
                                          bson::TypeName(option.value.type()), "', expected type 'object'")};
    }
  }
  return Add(parser, name, specification);
}

Status ParseIndexStats(StageParser& parser, std::string_view name, const bson::Value& specification) {
  if (!specification.Is(Type::kObject) || !specification.AsView().empty())
    return {Location(28803), "The $indexStats stage specification must be an empty object"};
  return Add(parser, name, specification);
}

Status ParseListLocalSessions(StageParser& parser, std::string_view name, const bson::Value& specification) {
  BRAID_CHECK_OK(CheckSessionOptions(name, specification));
  return Add(parser, name, specification);
}

Status ParseListSampledQueries(StageParser& parser, std::string_view name, const bson::Value& specification) {
  if (!specification.Is(Type::kObject)) {
    return {Location(6876000),
            StrCat("$listSampledQueries takes an object, not ", bson::TypeName(specification.type()))};
  }
  for (const bson::Element& option : specification.AsView()) {
    if (option.name != "namespace") return Unknown(name, option.name);
    if (!option.value.Is(Type::kString)) {
      return {Code::kTypeMismatch, StrCat("BSON field '$listSampledQueries.namespace' is the wrong type '",
                                          bson::TypeName(option.value.type()), "', expected type 'string'")};
    }
  }
  return Add(parser, name, specification);
}

Status ParseListSessions(StageParser& parser, std::string_view name, const bson::Value& specification) {
  if (parser.options.ns != catalog::Namespace{"config", "system.sessions"})
    return {Code::kInvalidNamespace, "$listSessions may only be run against config.system.sessions"};
  BRAID_CHECK_OK(CheckSessionOptions(name, specification));
  return Add(parser, name, specification);
}

Status ParseShardedDataDistribution(StageParser& parser, std::string_view name, const bson::Value& specification) {
  if (!specification.Is(Type::kObject) || !specification.AsView().empty())
    return {Location(6789100), "The $shardedDataDistribution stage specification must be an empty object"};
  return Add(parser, name, specification);
}

}  // namespace braid::query::pipeline
