#include "engine/update/operation.h"

#include <algorithm>

#include "base/strings.h"
#include "engine/bson/json.h"

namespace braid::update {

Status Operation::DeadEnd(const bson::Value& element, std::string_view part, const ApplyContext& context) const {
  return {Code::kPathNotViable,
          StrCat("Path '", path_, "' cannot be followed in document ", IdText(context), ": there is no field '", part,
                 "' in a value of type ", bson::TypeName(element.type()))};
}

std::string IdText(const ApplyContext& context) {
  const bson::Value id = context.before.Find("_id");
  return id.missing() ? "{no _id}" : StrCat("{_id: ", bson::ToShell(id), "}");
}

int Depth(const bson::Value& value) {
  if (!value.Is(bson::Type::kObject) && !value.Is(bson::Type::kArray)) return 0;
  int deepest = 0;
  for (const bson::Element& element : value.AsView()) deepest = std::max(deepest, Depth(element.value));
  return deepest + 1;
}

}  // namespace braid::update
