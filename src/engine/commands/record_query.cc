// RecordQuery: which documents a command asks for, taken from its arguments.
#include "engine/commands/query_sampler.h"

#include <algorithm>

#include "engine/bson/number.h"
#include "engine/commands/arg_reader.h"
#include "engine/commands/parts.h"

namespace braid::commands {
namespace {

using bson::Type;
using bson::Value;
using bson::View;

struct Target {
  QuerySampler& sampler;
  const Request& request;
  const catalog::Collection& collection;

  void Add(std::string_view command, bson::Builder& details) const {
    sampler.Add(collection, command, details.Finish());
  }
};

void RecordRead(const Target& target, const Value& filter) {
  const View body = target.request.body;
  bson::Builder details;
  details.Append("filter", filter.Is(Type::kObject) ? filter.AsView() : View());
  if (const Value sort = body.Find("sort"); sort.Is(Type::kObject)) details.Append("sort", sort);
  const Value collation = body.Find("collation");
  details.Append("collation", collation.Is(Type::kObject) ? collation : target.collection.options.Find("collation"));
  if (const Value let = body.Find("let"); let.Is(Type::kObject)) details.Append("let", let);
  target.Add(target.request.name, details);
}

void RecordFind(const Target& target) { RecordRead(target, target.request.body.Find("filter")); }
void RecordQueried(const Target& target) { RecordRead(target, target.request.body.Find("query")); }

// A $match at the start is the filter that the shards get.
void RecordAggregate(const Target& target) {
  const Value stages = target.request.body.Find("pipeline");
  const Value first = stages.Is(Type::kArray) && !stages.AsView().empty() ? stages.AsView().begin()->value : Value();
  RecordRead(target, first.Is(Type::kObject) ? first.AsView().Find("$match") : Value());
}

void RecordFindAndModify(const Target& target) {
  bson::Builder details;
  details.Append("findAndModify", target.collection.ns.collection);
  bool first = true;  // the command's own name, maybe in its old spelling
  for (const bson::Element& field : target.request.body) {
    if (!first && !IsCommonField(field.name)) details.Append(field.name, field.value);
    first = false;
  }
  target.Add("findAndModify", details);
}

void RecordStatements(const Target& target, std::string_view list) {
  std::vector<View> statements;
  ArgReader reader(target.request);
  reader.Optional(list, statements);
  if (statements.empty()) return;
  statements.resize(1 + target.sampler.Take(target.collection, statements.size() - 1));
  bson::Builder details;
  details.Append(target.request.name, target.collection.ns.collection).OpenArray(list);
  for (const View& statement : statements) details.AppendNext(statement);
  details.Close();
  if (const Value let = target.request.body.Find("let"); let.Is(Type::kObject)) details.Append("let", let);
  target.Add(target.request.name, details);
}
void RecordUpdate(const Target& target) { RecordStatements(target, "updates"); }
void RecordDelete(const Target& target) { RecordStatements(target, "deletes"); }

void RecordInserts(const Target& target, size_t count) {
  bson::Builder details;
  details.Append("insert", target.collection.ns.collection).Append("documents", static_cast<int64_t>(count));
  target.Add("insert", details);
}
void RecordInsert(const Target& target) {
  std::vector<View> documents;
  ArgReader reader(target.request);
  reader.Optional("documents", documents);
  RecordInserts(target, documents.size());
}

// One operation of bulkWrite in the form of the command that does the same.
void RecordOperation(const Target& target, View operation) {
  const std::string_view kind = operation.begin()->name;
  if (kind == "insert") return RecordInserts(target, 1);
  bson::Builder details;
  details.Append(kind, target.collection.ns.collection).OpenArray(kind == "update" ? "updates" : "deletes");
  details.OpenNextObject().Append("q", operation.Find("filter"));
  const bool multi = bson::IsTruthy(operation.Find("multi"));
  if (kind == "update") {
    details.Append("u", operation.Find("updateMods")).Append("multi", multi).Append("upsert", operation.Find("upsert"));
  } else {
    details.Append("limit", multi ? 0 : 1);
  }
  for (const std::string_view name : {"sort", "collation", "arrayFilters"}) details.Append(name, operation.Find(name));
  details.Close().Close();
  target.Add(kind, details);
}

catalog::CollectionPtr CollectionOf(const EngineParts& engine, std::string_view full_name) {
  const size_t dot = full_name.find('.');
  return dot == std::string_view::npos ? nullptr
                                       : engine.catalog->Find(full_name.substr(0, dot), full_name.substr(dot + 1));
}

// Each operation is one of its own, on the collection that it names by number.
void RecordBulkWrite(EngineParts& engine, const Request& request) {
  std::vector<View> operations;
  std::vector<View> namespaces;
  ArgReader reader(request);
  reader.Optional("ops", operations);
  reader.Optional("nsInfo", namespaces);
  std::vector<catalog::CollectionPtr> collections;
  for (const View& info : namespaces) {
    const Value name = info.Find("ns");
    collections.push_back(name.Is(Type::kString) ? CollectionOf(engine, name.AsString()) : nullptr);
  }
  for (const View& operation : operations) {
    if (operation.empty() || !operation.begin()->value.IsNumber()) continue;
    const auto index = static_cast<size_t>(bson::Number::Of(operation.begin()->value).ToInt64Clamped());
    if (index >= collections.size() || collections[index] == nullptr) continue;
    if (engine.query_sampler.Take(*collections[index], 1) == 0) continue;
    RecordOperation({engine.query_sampler, request, *collections[index]}, operation);
  }
}

struct Recorder {
  std::string_view command;
  void (*record)(const Target& target);
};
constexpr Recorder kRecorders[] = {
    {"aggregate", RecordAggregate},
    {"count", RecordQueried},
    {"delete", RecordDelete},
    {"distinct", RecordQueried},
    {"find", RecordFind},
    {"findAndModify", RecordFindAndModify},
    {"findandmodify", RecordFindAndModify},
    {"insert", RecordInsert},
    {"update", RecordUpdate},
};
static_assert(std::ranges::is_sorted(kRecorders, {}, &Recorder::command));

}  // namespace

void RecordQuery(EngineParts& engine, const Request& request) {
  if (request.name == "bulkWrite") return RecordBulkWrite(engine, request);
  const Recorder* recorder = std::ranges::lower_bound(kRecorders, request.name, {}, &Recorder::command);
  if (recorder == std::end(kRecorders) || recorder->command != request.name) return;
  const Value name = request.body.begin()->value;
  if (!name.Is(Type::kString)) return;  // aggregate: 1
  const catalog::CollectionPtr collection = engine.catalog->Find(request.database, name.AsString());
  if (collection == nullptr || engine.query_sampler.Take(*collection, 1) == 0) return;
  recorder->record({engine.query_sampler, request, *collection});
}

}  // namespace braid::commands
