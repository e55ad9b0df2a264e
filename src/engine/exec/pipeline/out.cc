// $out: stores the whole result as a collection and replaces its previous contents.
#include "base/strings.h"
#include "engine/exec/pipeline/stage.h"

namespace braid::query::pipeline {
namespace {

class Out final : public WriteStage {
 public:
  Out(std::string_view name, const bson::Value& specification, catalog::Namespace target,
      std::shared_ptr<PipelineHost> host)
      : WriteStage(name, specification), target_(std::move(target)), host_(std::move(host)) {}

 protected:
  Status Begin(txn::Context& context) override { return host_->BeginOut(context, target_); }
  Status Write(txn::Context& context, bson::View document) override { return host_->AddOut(context, document); }
  Status Finish(txn::Context& context) override { return host_->FinishOut(context); }

 private:
  const catalog::Namespace target_;
  const std::shared_ptr<PipelineHost> host_;
};

/// {db, coll}
Status ReadTarget(bson::View specification, std::string_view* database, std::string_view* collection) {
  for (const bson::Element& field : specification) {
    if (field.name == "timeseries")
      return {Code::kCommandNotSupported, "Braid does not support the option 'timeseries' of $out"};
    if (field.name != "db" && field.name != "coll")
      return {Location(40415), StrCat("BSON field '$out.", field.name, "' is an unknown field.")};
    if (!field.value.Is(bson::Type::kString)) {
      return {Code::kTypeMismatch, StrCat("BSON field '$out.", field.name, "' is the wrong type '",
                                          bson::TypeName(field.value.type()), "', expected type 'string'")};
    }
    *(field.name == "db" ? database : collection) = field.value.AsString();
  }
  for (const std::string_view required : {"db", "coll"}) {
    if (!specification.Has(required))
      return {Location(40414), StrCat("BSON field '$out.", required, "' is missing but a required field")};
  }
  return {};
}

}  // namespace

Status ParseOut(StageParser& parser, std::string_view name, const bson::Value& specification) {
  std::string_view database = parser.options.ns.database;
  std::string_view collection;
  if (specification.Is(bson::Type::kString)) {
    collection = specification.AsString();
  } else if (specification.Is(bson::Type::kObject)) {
    BRAID_CHECK_OK(ReadTarget(specification.AsView(), &database, &collection));
  } else {
    return {Location(16990),
            StrCat("$out only supports a string or object argument, but found ", bson::TypeName(specification.type()))};
  }
  BRAID_TRY(catalog::Namespace target, catalog::Namespace::Make(database, collection));
  BRAID_CHECK_OK(CheckTarget(name, target, {.internal_database = 31321, .special_collection = 17385}));
  parser.stages.push_back(std::make_unique<Out>(name, specification, std::move(target), parser.options.host));
  return {};
}

}  // namespace braid::query::pipeline
