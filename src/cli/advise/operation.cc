// Reads operations from commands and from the server's samples.
#include "cli/advise/operation.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/strings.h"
#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "engine/bson/number.h"

namespace braid::advise {
namespace {

using bson::Document;
using bson::Type;
using bson::Value;
using bson::View;

using Operations = std::vector<Operation>;

struct Kind {
  std::string_view command;
  std::string_view filter;      // the field that has the filter
  std::string_view statements;  // of a write: the field that has them, in the command's own form
};
constexpr std::array kKinds = {
    // sorted by name
    Kind{"aggregate", "", ""},          Kind{"count", "query", ""},      Kind{"delete", "q", "deletes"},
    Kind{"distinct", "query", ""},      Kind{"find", "filter", ""},      Kind{"findAndModify", "query", ""},
    Kind{"findandmodify", "query", ""}, Kind{"insert", "", "documents"}, Kind{"update", "q", "updates"},
};

const Kind* FindKind(std::string_view command) {
  const auto at = std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& kind) { return kind.command == command; });
  return at == kKinds.end() ? nullptr : &*at;
}

Result<Document> ObjectAt(View document, std::string_view name) {
  const Value value = document.Find(name);
  if (value.IsNullish()) return Document();
  if (!value.Is(Type::kObject)) {
    return Status(Code::kBadValue, StrCat("\"", name, "\" must be a document, not ", bson::ToShell(value)));
  }
  return Document(value.AsView());
}

// The paths that an update's operators name. An update by pipeline or by a whole document names none.
std::vector<std::string> ChangedBy(const Value& update) {
  std::vector<std::string> changed;
  if (!update.Is(Type::kObject)) return changed;
  for (const bson::Element& part : update.AsView()) {
    if (!part.name.starts_with('$') || part.name == "$setOnInsert" || !part.value.Is(Type::kObject)) continue;
    for (const bson::Element& field : part.value.AsView()) changed.emplace_back(field.name);
  }
  return changed;
}

bool HasCollation(View statement) {
  const Value collation = statement.Find("collation");
  if (!collation.Is(Type::kObject)) return false;
  const Value locale = collation.AsView().Find("locale");
  return locale.Is(Type::kString) && locale.AsString() != "simple";
}

// The $match stages at the start of a pipeline (a $sort may stand between) as one filter.
Result<Document> FilterOfPipeline(const Value& pipeline, Document* sort) {
  if (pipeline.missing()) return Document();
  if (!pipeline.Is(Type::kArray)) return Status(Code::kBadValue, "\"pipeline\" must be an array of stages");
  std::vector<View> filters;
  for (const bson::Element& stage : pipeline.AsView()) {
    if (!stage.value.Is(Type::kObject)) return Status(Code::kBadValue, "a stage of \"pipeline\" must be a document");
    const View stage_view = stage.value.AsView();
    if (const Value match = stage_view.Find("$match"); match.Is(Type::kObject)) {
      filters.push_back(match.AsView());
    } else if (const Value order = stage_view.Find("$sort"); order.Is(Type::kObject)) {
      *sort = Document(order.AsView());
    } else {
      break;
    }
  }
  if (filters.empty()) return Document();
  if (filters.size() == 1) return Document(filters[0]);
  bson::Builder all;
  all.OpenArray("$and");
  for (const View& filter : filters) all.AppendNext(filter);
  return all.Close().Finish();
}

// One statement: a whole read, or one of the updates or deletes.
Result<Operation> Read(const Kind& kind, View statement) {
  Operation operation;
  operation.command = kind.command == "findandmodify" ? "findAndModify" : kind.command;
  operation.collated = HasCollation(statement);
  operation.insert = kind.command == "insert";
  if (operation.insert) return operation;
  BRAID_TRY(operation.sort, ObjectAt(statement, "sort"));
  if (kind.command == "aggregate" && !statement.Has("filter")) {
    BRAID_TRY(operation.filter, FilterOfPipeline(statement.Find("pipeline"), &operation.sort));
  } else {
    const bool sampled = kind.filter != "q" && statement.Has("filter");  // the server's name for it, whatever the read
    BRAID_TRY(operation.filter, ObjectAt(statement, sampled ? "filter" : kind.filter));
  }
  operation.changed = ChangedBy(statement.Find(kind.command == "update" ? "u" : "update"));
  return operation;
}

Result<Operations> ReadAll(const Kind& kind, View command) {
  Operations operations;
  const Value statements = kind.statements.empty() ? Value() : command.Find(kind.statements);
  if (!statements.Is(Type::kArray)) {
    BRAID_TRY(operations.emplace_back(), Read(kind, command));
    return operations;
  }
  for (const bson::Element& statement : statements.AsView()) {
    if (!statement.value.Is(Type::kObject)) {
      return Status(Code::kBadValue, StrCat("\"", kind.statements, "\" must be an array of documents"));
    }
    BRAID_TRY(operations.emplace_back(), Read(kind, statement.value.AsView()));
  }
  return operations;
}

Result<double> WeightOf(View command, std::string_view name) {
  Value weight = command.Find("weight");
  if (weight.missing() && name != "count") weight = command.Find("count");
  if (weight.missing()) return 1.0;
  const auto number = bson::NumberOf(weight);
  if (!number || !(number->ToDouble() >= 0) || std::isinf(number->ToDouble())) {
    return Status(Code::kBadValue, StrCat("\"weight\" (or \"count\") says how often the operation runs: a number, not ",
                                          bson::ToShell(weight)));
  }
  return number->ToDouble();
}

std::string ShapeOf(View filter);

bool HasOperators(View object) { return !object.empty() && object.begin()->name.starts_with('$'); }

// Branches of the same shape are one: how many there are is a value.
std::string BranchesOf(View branches) {
  std::vector<std::string> shapes;
  for (const bson::Element& branch : branches) {
    std::string shape = branch.value.Is(Type::kObject) ? ShapeOf(branch.value.AsView()) : "?";
    if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) shapes.push_back(std::move(shape));
  }
  std::string text = "[";
  for (const std::string& shape : shapes) text += StrCat(text.size() > 1 ? ", " : "", shape);
  return text + "]";
}

std::string ShapeOf(const bson::Element& field) {
  const Value& value = field.value;
  const bool logical = field.name == "$and" || field.name == "$or" || field.name == "$nor";
  if (logical && value.Is(Type::kArray)) return BranchesOf(value.AsView());
  if (field.name == "$expr" || field.name == "$jsonSchema") return "?";
  if (value.Is(Type::kRegex)) return StrCat("/", value.AsRegex().pattern.starts_with('^') ? "^" : "", "?/");
  if (value.Is(Type::kNull)) return "null";
  const bool nests = field.name == "$elemMatch" || field.name == "$not";
  if (value.Is(Type::kObject) && (nests || HasOperators(value.AsView()))) return ShapeOf(value.AsView());
  return value.Is(Type::kArray) ? "[?]" : "?";
}

std::string ShapeOf(View filter) {
  std::string text = "{";
  for (const bson::Element& field : filter) {
    text += StrCat(text.size() > 1 ? ", " : " ", field.name, ": ", ShapeOf(field));
  }
  return text.size() == 1 ? "{}" : text + " }";
}

}  // namespace

Result<Operations> OperationsOf(View command) {
  const Kind* kind = nullptr;
  Value collection;
  for (const bson::Element& element : command) {  // in a count of findAndModify's, say, "count" is the weight
    const Kind* named = element.value.Is(Type::kString) ? FindKind(element.name) : nullptr;
    if (named == nullptr) continue;
    kind = named;
    collection = element.value;
    break;
  }
  if (kind == nullptr) {
    std::string names;
    for (const Kind& known : kKinds) {
      if (known.command != "findandmodify") names += StrCat(names.empty() ? "" : ", ", known.command);
    }
    return Status(Code::kBadValue, StrCat("an operation is {\"find\": \"orders\", \"filter\": {…}, \"weight\": 120}; "
                                          "the commands are ",
                                          names));
  }
  BRAID_TRY(const double weight, WeightOf(command, kind->command));
  BRAID_TRY(Operations operations, ReadAll(*kind, command));
  for (Operation& operation : operations) {
    operation.weight = weight;
    operation.collection = collection.AsString();
  }
  return operations;
}

Result<Operations> OperationsOfSample(View row) {
  const Value name = row.Find("cmdName");
  const Value command = row.Find("cmd");
  const Kind* kind = name.Is(Type::kString) ? FindKind(name.AsString()) : nullptr;
  if (kind == nullptr || !command.Is(Type::kObject)) {
    return Status(Code::kBadValue, StrCat("the server's sample is not understood: ", bson::ToShell(row)));
  }
  BRAID_TRY(Operations operations, ReadAll(*kind, command.AsView()));
  if (const auto count = bson::NumberOf(command.AsView().Find("documents")); count && kind->command == "insert") {
    operations.front().weight = count->ToDouble();  // how many, not which
  }
  return operations;
}

// The shape of an operation: fields and operators without values.

std::string Operation::Shape() const {
  if (insert) return "insert";
  std::string text = StrCat(command, " ", ShapeOf(filter));
  if (!sort.empty()) text += StrCat(" sort ", bson::ToShell(sort));
  if (collated) text += " with a collation";
  return text;
}

}  // namespace braid::advise
