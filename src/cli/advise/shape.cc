// The shape of an operation: fields and operators without values.
#include <algorithm>

#include "base/strings.h"
#include "cli/advise/operation.h"
#include "engine/bson/json.h"

namespace braid::advise {
namespace {

using bson::Type;
using bson::Value;
using bson::View;

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

std::string Operation::Shape() const {
  if (insert) return "insert";
  std::string text = StrCat(command, " ", ShapeOf(filter));
  if (!sort.empty()) text += StrCat(" sort ", bson::ToShell(sort));
  if (collated) text += " with a collation";
  return text;
}

}  // namespace braid::advise
