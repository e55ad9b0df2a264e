// $bucket: groups by ranges of an expression. A $group over a $switch, and a $sort.
#include "base/strings.h"
#include "engine/bson/compare.h"
#include "engine/bson/json.h"
#include "engine/exec/pipeline/stage.h"

namespace braid::query::pipeline {
namespace {

struct Arguments {
  bson::Value group_by;
  std::vector<bson::Value> boundaries;
  bson::Value otherwise;  // `default`
  bson::Value output;
};

Result<bson::Value> ConstantOf(const bson::Value& written, const Environment& environment, int code,
                               std::string_view option, bson::Arena& arena) {
  BRAID_TRY(const ExpressionPtr expression, ParseExpression(written, environment));
  if (expression->constant() == nullptr) {
    return Status(Location(code), StrCat("The $bucket '", option,
                                         "' field must be a constant expression, but found: ", bson::ToShell(written)));
  }
  return arena.Copy(*expression->constant());
}

Status ReadBoundaries(const bson::Value& written, const Environment& environment, bson::Arena& arena,
                      std::vector<bson::Value>* boundaries) {
  if (!written.Is(bson::Type::kArray)) {
    return {Location(40200), StrCat("The $bucket 'boundaries' field must be an array, but found type: ",
                                    bson::TypeName(written.type()))};
  }
  for (const bson::Element& element : written.AsView()) {
    BRAID_TRY(const bson::Value value, ConstantOf(element.value, environment, 40191, "boundaries", arena));
    boundaries->push_back(value);
  }
  if (boundaries->size() < 2) {
    return {Location(40192), StrCat("The $bucket 'boundaries' field must have at least 2 values, but found ",
                                    boundaries->size(), " value(s).")};
  }
  for (size_t i = 1; i < boundaries->size(); ++i) {
    const bson::Value& lower = (*boundaries)[i - 1];
    const bson::Value& upper = (*boundaries)[i];
    if (bson::CanonicalType(lower.type()) != bson::CanonicalType(upper.type())) {
      return {Location(40193),
              StrCat("All values in the 'boundaries' option to $bucket must have the same type. Found ",
                     "conflicting types ", bson::TypeName(lower.type()), " and ", bson::TypeName(upper.type()))};
    }
    if (bson::Compare(lower, upper, environment.collation.get()) >= 0) {
      return {Location(40194), "The 'boundaries' option to $bucket must be sorted in ascending order, without equals"};
    }
  }
  return {};
}

Result<Arguments> ReadArguments(const bson::Value& specification, const Environment& environment, bson::Arena& arena) {
  if (!specification.Is(bson::Type::kObject)) {
    return Status(Location(40201), StrCat("Argument to $bucket stage must be an object, but found type: ",
                                          bson::TypeName(specification.type())));
  }
  Arguments arguments;
  for (const bson::Element& option : specification.AsView()) {
    const bson::Value& value = option.value;
    if (option.name == "groupBy") {
      const bool path = value.Is(bson::Type::kString) && value.AsString().starts_with('$');
      const bool expression =
          value.Is(bson::Type::kObject) && !value.AsView().empty() && value.AsView().begin()->name.starts_with('$');
      if (!path && !expression) {
        return Status(Location(40202), "The $bucket 'groupBy' field must be a $-prefixed path or an expression object");
      }
      arguments.group_by = value;
    } else if (option.name == "boundaries") {
      BRAID_CHECK_OK(ReadBoundaries(value, environment, arena, &arguments.boundaries));
    } else if (option.name == "default") {
      BRAID_TRY(arguments.otherwise, ConstantOf(value, environment, 40195, "default", arena));
    } else if (option.name == "output") {
      if (!value.Is(bson::Type::kObject)) {
        return Status(Location(40196), StrCat("The $bucket 'output' field must be an object, but found type: ",
                                              bson::TypeName(value.type())));
      }
      arguments.output = value;
    } else {
      return Status(Location(40197), StrCat("Unrecognized option to $bucket: ", option.name));
    }
  }
  if (arguments.group_by.missing() || arguments.boundaries.empty())
    return Status(Location(40198), "$bucket requires 'groupBy' and 'boundaries' to be specified.");
  const bson::Collation* collation = environment.collation.get();
  if (!arguments.otherwise.missing() &&
      bson::Compare(arguments.otherwise, arguments.boundaries.front(), collation) >= 0 &&
      bson::Compare(arguments.otherwise, arguments.boundaries.back(), collation) < 0) {
    return Status(Location(40199), "The $bucket 'default' field must lie outside of the 'boundaries'");
  }
  return arguments;
}

/// {$name: [operand, {$literal: boundary}]}
void AppendComparison(bson::Builder& out, std::string_view name, const bson::Value& operand,
                      const bson::Value& boundary) {
  out.OpenNextObject().OpenArray(name).AppendNext(operand);
  out.OpenNextObject().Append("$literal", boundary).Close().Close().Close();
}

bson::Document GroupOf(const Arguments& arguments) {
  bson::Builder out;
  out.OpenObject("_id").OpenObject("$switch").OpenArray("branches");
  for (size_t i = 1; i < arguments.boundaries.size(); ++i) {
    out.OpenNextObject().OpenObject("case").OpenArray("$and");
    AppendComparison(out, "$gte", arguments.group_by, arguments.boundaries[i - 1]);
    AppendComparison(out, "$lt", arguments.group_by, arguments.boundaries[i]);
    out.Close().Close().OpenObject("then").Append("$literal", arguments.boundaries[i - 1]).Close().Close();
  }
  out.Close();
  if (!arguments.otherwise.missing()) out.OpenObject("default").Append("$literal", arguments.otherwise).Close();
  out.Close().Close();
  if (arguments.output.missing()) {
    out.OpenObject("count").Append("$sum", 1).Close();
  } else {
    out.AppendAll(arguments.output.AsView());
  }
  return out.Finish();
}

}  // namespace

Status ParseBucket(StageParser& parser, std::string_view, const bson::Value& specification) {
  bson::Arena arena(bson::Arena::Use::kQuery);
  BRAID_TRY(const Arguments arguments, ReadArguments(specification, *parser.environment(), arena));
  const bson::Document group = GroupOf(arguments);
  BRAID_CHECK_OK(ParseGroup(parser, "$group", bson::Value(group.view())));
  const bson::Document sort = bson::Make("_id", 1);
  return ParseSort(parser, "$sort", bson::Value(sort.view()));
}

}  // namespace braid::query::pipeline
