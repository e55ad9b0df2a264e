// Environment, hint, namespaces, errors of statements and the notice about unique indexes.
#include "engine/commands/shared/common.h"

#include <fmt/ranges.h>

#include "base/strings.h"
#include "engine/bson/json.h"
#include "engine/commands/parts.h"
#include "engine/commands/shared/config_views.h"
#include "engine/language/expression/expression.h"

namespace braid::commands {
namespace {

/// MongoDB wants the whole shard key as the first fields of a unique index, hashed or not.
bool ContainsKey(const catalog::IndexSpec& spec, const sharding::ShardKey& key) {
  if (spec.fields.size() < key.fields().size()) return false;
  for (size_t i = 0; i < key.fields().size(); ++i) {
    if (spec.fields[i].path != key.fields()[i].path) return false;
  }
  return true;
}

}  // namespace

Result<std::shared_ptr<const query::Environment>> MakeEnvironment(Call& call, const catalog::CollectionPtr& collection,
                                                                  const std::optional<bson::View>& collation,
                                                                  const std::optional<bson::View>& let) {
  auto environment = std::make_shared<query::Environment>();
  environment->now_millis = call.context.now_millis();
  environment->cluster_time = call.engine.cluster_clock.Now();
  if (collation && !collation->empty()) {
    BRAID_TRY(environment->collation, bson::Collation::Parse(*collation));
  } else if (collection != nullptr) {
    environment->collation = collection->collation;
  }
  if (let) {
    bson::Arena arena(bson::Arena::Use::kQuery);
    HeldMemory held;
    for (const auto& [name, value] : *let) {
      BRAID_TRY(query::ExpressionPtr expression, query::ParseExpression(value, *environment));
      BRAID_TRY(bson::Value evaluated, query::Evaluate(*expression, bson::View(), *environment, arena));
      if (evaluated.missing()) evaluated = bson::Arena::Null();
      BRAID_CHECK_OK(held.Set(held.bytes() + evaluated.bytes().size()));
      environment->variables.emplace_back(std::string(name), bson::OwnedValue(evaluated));
    }
  }
  return std::shared_ptr<const query::Environment>(std::move(environment));
}

Status ReadHint(const bson::Value& hint, query::Query* query) {
  if (hint.missing()) return {};
  if (hint.Is(bson::Type::kString)) {
    query->hint_name = hint.AsString();
  } else if (hint.Is(bson::Type::kObject)) {
    if (!hint.AsView().empty()) query->hint = bson::Document(hint.AsView());
  } else {
    return Status(Code::kFailedToParse, "Hint must be a string or an object");
  }
  return {};
}

Result<catalog::Namespace> ParseFullName(std::string_view name) {
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos) {
    return Status(Code::kInvalidNamespace, StrCat("Invalid namespace specified '", name, "'"));
  }
  return catalog::Namespace::Make(name.substr(0, dot), name.substr(dot + 1));
}

Result<catalog::CollectionPtr> FindForRead(Call& call, const catalog::Namespace& ns) {
  if (catalog::CollectionPtr draft = call.context.FindDraft(ns)) return draft;
  if (ns.collection == kProfileCollection) call.engine.profiler.writer().Flush();
  catalog::CollectionPtr found = FindReadable(call.engine, ns);
  if (found != nullptr) BRAID_CHECK_OK(call.context.CheckName(*found));
  return found;
}

Result<query::SortPattern> ParseSortOrNatural(bson::View sort, query::Query& query) {
  if (const bson::Value natural = sort.Find("$natural"); !natural.missing()) {
    if (sort.Count() > 1) return Status(Code::kBadValue, "Cannot include '$natural' in compound sort");
    query.hint = bson::Document(sort);
    return query::SortPattern();
  }
  return query::SortPattern::Parse(sort, query.environment->collation);
}

void AppendWriteError(bson::Builder& array, int32_t index, const Status& status) {
  array.OpenNextObject().Append("index", index).Append("code", static_cast<int32_t>(status.code()));
  if (!status.details().empty()) array.AppendAll(bson::View(status.details()));
  array.Append("errmsg", status.message()).Close();
}

Status CheckBatchSize(size_t statements) {
  if (statements >= 1 && statements <= 100'000) return {};
  return Status(Code::kInvalidLength,
                StrCat("Write batch sizes must be between 1 and 100000. Got ", statements, " operations."));
}

std::string UniqueNote(const catalog::Collection& collection) {
  if (!collection.sharded()) return {};
  std::vector<std::string> names;
  for (const auto& index : collection.indexes) {
    if (!index->spec.unique || index->spec.is_id() || ContainsKey(index->spec, collection.placement->key)) continue;
    names.push_back(index->spec.name);
  }
  if (names.empty()) return {};
  return StrCat("unique over all shards although the shard key ", bson::ToShell(collection.placement->key.pattern()),
                " is not part of it: ", fmt::format("{}", fmt::join(names, ", ")),
                ". MongoDB would refuse this on a sharded collection.");
}

}  // namespace braid::commands
