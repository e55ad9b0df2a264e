// $merge: puts one document of a pipeline's result into a collection.
#include "engine/commands/crud/pipeline_host.h"

#include <algorithm>
#include <set>

#include "base/strings.h"
#include "engine/bson/json.h"
#include "engine/commands/parts.h"
#include "engine/commands/shared/common.h"
#include "engine/language/match/path.h"

namespace braid::commands {
namespace {

constexpr int kAttemptsMax = 16;  // races with other inserts of the same key

std::vector<std::string> KeyFields(bson::View specification) {
  const bson::Value on = specification.Find("on");
  if (on.Is(bson::Type::kString)) return {std::string(on.AsString())};
  std::vector<std::string> fields;
  if (on.Is(bson::Type::kArray)) {
    for (const auto& [position, name] : on.AsView()) fields.emplace_back(name.AsString());
  }
  if (fields.empty()) fields.emplace_back("_id");
  return fields;
}

/// {field: {$eq: value}, …} for the fields of the key.
Result<bson::Document> KeyFilter(bson::View document, bson::View specification) {
  bson::Builder filter;
  for (const std::string& field : KeyFields(specification)) {
    const bson::Value value = query::Lookup(document, field);
    if (value.IsNullish())
      return Status(Location(51132),
                    StrCat("$merge write error: 'on' field '", field, "' cannot be missing, null or undefined"));
    if (value.Is(bson::Type::kArray))
      return Status(Location(51185), StrCat("$merge write error: 'on' field '", field, "' cannot be an array"));
    filter.OpenObject(field).Append("$eq", value).Close();
  }
  return filter.Finish();
}

/// The variables of a whenMatched pipeline: `let` over the incoming document, and `new`, the document itself; as
/// literals.
Result<bson::Document> Variables(Call& call, bson::View document, bson::View specification) {
  bson::Builder variables;
  variables.OpenObject("new").Append("$literal", document).Close();
  const bson::Value let = specification.Find("let");
  if (!let.Is(bson::Type::kObject)) return variables.Finish();
  BRAID_TRY(auto environment, MakeEnvironment(call, nullptr, std::nullopt, std::nullopt));
  bson::Arena arena(bson::Arena::Use::kQuery);
  for (const auto& [name, expression] : let.AsView()) {
    BRAID_TRY(query::ExpressionPtr parsed, query::ParseExpression(expression, *environment));
    BRAID_TRY(bson::Value value, query::Evaluate(*parsed, document, *environment, arena));
    if (name == "new" || value.missing()) continue;
    variables.OpenObject(name).Append("$literal", value).Close();
  }
  return variables.Finish();
}

const bson::Document& MergePipeline() {
  static const bson::Document pipeline = [] {
    bson::Builder builder;
    builder.OpenNextObject()
        .OpenObject("$replaceWith")
        .OpenArray("$mergeObjects")
        .AppendNext("$$ROOT")
        .AppendNext("$$new")
        .Close()
        .Close()
        .Close();
    return builder.Finish();
  }();
  return pipeline;
}

/// Applies whenMatched to an existing document. Returns the number of matched documents.
Result<int64_t> WhenMatched(Call& call, const catalog::Namespace& target, bson::View document, bson::View filter,
                            bson::View specification, const txn::WriteOptions& options) {
  const bson::Value when = specification.Find("whenMatched");
  UpdateStatement statement{.q = filter};
  statement.options = options;
  BRAID_TRY(bson::Document variables, Variables(call, document, specification));
  const bson::Document nothing = bson::Make("$set", bson::View());
  const std::string_view mode = when.Is(bson::Type::kString) ? when.AsString() : "merge";
  if (when.Is(bson::Type::kArray)) {
    statement.u = when;
    statement.let = variables;
  } else if (mode == "replace") {
    statement.u = bson::Value(document);
  } else if (mode == "merge") {
    statement.u = bson::Value(bson::Type::kArray, MergePipeline().bytes().data(), MergePipeline().view().size());
    statement.let = variables;
  } else {  // keepExisting, fail
    statement.u = bson::Value(nothing.view());
  }
  BRAID_TRY(UpdateResult outcome, RunUpdate(call, target, statement));
  if (mode == "fail" && outcome.matched > 0) {
    return Status(Code::kDuplicateKey,
                  StrCat("$merge with whenMatched: fail found an existing document: ", bson::ToShell(filter)));
  }
  return outcome.matched;
}

}  // namespace

Result<catalog::Namespace> MergeTarget(const bson::Value& into, std::string_view database) {
  if (into.Is(bson::Type::kString)) return catalog::Namespace::Make(database, into.AsString());
  const bson::Value db = into.AsView().Find("db");
  const bson::Value coll = into.AsView().Find("coll");
  if (!coll.Is(bson::Type::kString))
    return Status(Location(51178), "$merge 'into' needs the collection's name in 'coll'");
  return catalog::Namespace::Make(db.Is(bson::Type::kString) ? db.AsString() : database, coll.AsString());
}

Status CheckMergeKey(const catalog::Catalog& catalog, const catalog::Namespace& target, bson::View specification) {
  const std::vector<std::string> fields = KeyFields(specification);
  if (fields == std::vector<std::string>{"_id"}) return {};
  const std::set<std::string> wanted(fields.begin(), fields.end());
  const catalog::CollectionPtr collection = catalog.Find(target);
  const auto fits = [&](const std::shared_ptr<const catalog::Index>& index) {
    std::set<std::string> paths;
    for (const catalog::IndexField& field : index->spec.fields) paths.insert(field.path);
    return (index->spec.unique || index->spec.is_id()) && !index->spec.partial_filter && paths == wanted;
  };
  if (collection != nullptr && std::any_of(collection->indexes.begin(), collection->indexes.end(), fits)) return {};
  return Status(Location(51183), "Cannot find index to verify that join fields will be unique");
}

Status MergeDocument(Call& call, const catalog::Namespace& target, bson::View given, bson::View specification,
                     const txn::WriteOptions& options) {
  BRAID_TRY(bson::Document document, update::PrepareForInsert(given, call.engine.cluster_clock.Now()));
  BRAID_TRY(bson::Document filter, KeyFilter(document, specification));
  const bson::Value when_not = specification.Find("whenNotMatched");
  const std::string_view mode = when_not.Is(bson::Type::kString) ? when_not.AsString() : "insert";
  for (int attempt = 1;; ++attempt) {
    BRAID_TRY(int64_t matched, WhenMatched(call, target, document, filter, specification, options));
    if (matched > 0 || mode == "discard") return {};
    if (mode == "fail") {
      return Status(Location(13113),
                    "$merge could not find a matching document in the target collection for at least one document in "
                    "the source collection");
    }
    Status problem;
    const bson::View view = document;
    const auto failed = [&](size_t, const Status& status) {
      problem = status;
      return false;
    };
    BRAID_CHECK_OK(InsertDocuments(call, target, std::span(&view, 1), options, failed));
    if (problem.code() != Code::kDuplicateKey || attempt >= kAttemptsMax) return problem;
  }
}

}  // namespace braid::commands
