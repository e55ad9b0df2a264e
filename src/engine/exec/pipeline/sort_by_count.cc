// $sortByCount: how often each value of an expression occurs, most frequent first. A $group and a $sort.
#include "engine/exec/pipeline/stage.h"

namespace braid::query::pipeline {

Status ParseSortByCount(StageParser& parser, std::string_view, const bson::Value& specification) {
  if (specification.Is(bson::Type::kObject)) {
    const bson::View object = specification.AsView();
    if (object.empty() || !object.begin()->name.starts_with('$')) {
      return {Location(40147), "the sortByCount field must be defined as a $-prefixed path or an expression"};
    }
  } else if (specification.Is(bson::Type::kString)) {
    if (!specification.AsString().starts_with('$'))
      return {Location(40148), "the sortByCount field must be defined as a $-prefixed path or an expression"};
  } else {
    return {Location(40149), "the sortByCount field must be specified as a string or as an object"};
  }
  const bson::Document group = bson::Make("_id", specification, "count", bson::Make("$sum", 1));
  BRAID_CHECK_OK(ParseGroup(parser, "$group", bson::Value(group.view())));
  const bson::Document sort = bson::Make("count", -1);
  return ParseSort(parser, "$sort", bson::Value(sort.view()));
}

}  // namespace braid::query::pipeline
