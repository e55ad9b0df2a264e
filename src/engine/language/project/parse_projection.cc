// The language of find's projection and of $project. The order of the checks is MongoDB's: which code a wrong
// projection gets depends on it.

#include <algorithm>

#include "base/strings.h"
#include "engine/bson/builder.h"
#include "engine/bson/number.h"
#include "engine/language/project/projection_node.h"

namespace braid::query {
namespace {

using Kind = ProjectionNode::Kind;
using Mode = ProjectionPlan::Mode;

constexpr size_t kDepthMax = 200;

bool IsPositional(std::string_view name) { return name.ends_with(".$"); }

bool IsExpressionName(std::string_view name) {
  static const OperatorNames names = ExpressionOperators();
  return name == "$meta" || std::ranges::binary_search(names.supported, name) ||
         std::ranges::binary_search(names.refused, name);
}

/// True if the expression is wrong as it is written; false if evaluating its constants failed, which counts only after
/// its path.
bool IsSyntaxFault(Code code) {
  return code == Code::kInvalidPipelineOperator || code == Location(16020) || code == Location(28667);
}

class ProjectionParser {
 public:
  ProjectionParser(Projection::Use use, const Filter* filter, ProjectionPlan* plan)
      : find_(use == Projection::Use::kFind), filter_(filter), plan_(*plan) {}

  Status Run(bson::View specification) {
    if (!find_ && specification.empty()) return {Location(51272), "a projection needs at least one field"};
    for (const bson::Element& element : specification) {
      id_named_ = id_named_ || element.name == "_id" || element.name.starts_with("_id.");
      BRAID_CHECK_OK(Field({&plan_.root, 0}, element));
    }
    plan_.mode = mode_.value_or(DefaultMode());
    if (plan_.mode == Mode::kInclusion) {
      if (!id_named_) BRAID_CHECK_OK(plan_.root.Add("_id", MakeLeaf(Kind::kInclude)));
      if (id_excluded_) plan_.root.Remove("_id");  // what an inclusion does not name is not shown
    } else if (id_included_) {
      plan_.root.Remove("_id");
    }
    return {};
  }

 private:
  /// The inner node that is being filled, and how many path components lead to it.
  struct Parent {
    ProjectionNode* node;
    size_t depth;
  };

  static size_t DepthOf(Parent parent, std::string_view name) {
    return parent.depth + 1 + static_cast<size_t>(std::ranges::count(name, '.'));
  }

  Status Field(Parent parent, const bson::Element& element) {
    if (DepthOf(parent, element.name) > kDepthMax) {
      return {Code::kOverflow, StrCat("a projection's path has at most ", kDepthMax, " components")};
    }
    const bool positional = IsPositional(element.name);
    if (positional && !find_) return {Location(31324), "an aggregation's projection cannot be positional"};
    if (element.name.find(".$.") != std::string_view::npos) {
      return {Location(31394),
              StrCat("the positional operator must be the end of its path, not within '", element.name, "'")};
    }
    const bson::Value& value = element.value;
    if (value.Is(bson::Type::kObject)) {
      if (positional) return {Location(31271), "a positional path takes no expression and no sub-projection"};
      return SubObject(parent, element);
    }
    if (!value.IsNumber() && !value.Is(bson::Type::kBool)) {
      if (positional) return {Location(31308), "a positional path takes no literal"};
      return Literal(parent, element);
    }
    if (bson::IsTruthy(value)) return Inclusion(parent, element);
    if (positional) return {Location(31395), "a positional path cannot be excluded"};
    return Exclusion(parent, element);
  }

  Status Inclusion(Parent parent, const bson::Element& element) {
    const bool whole_id = parent.node == &plan_.root && element.name == "_id";
    if (IsPositional(element.name)) {
      BRAID_CHECK_OK(Positional(parent, element.name));
    } else {
      BRAID_CHECK_OK(CheckProjectionPath(element.name));
      BRAID_CHECK_OK(parent.node->Add(element.name, MakeLeaf(Kind::kInclude)));
    }
    if (whole_id) {
      id_included_ = true;
      return {};
    }
    if (mode_.value_or(Mode::kInclusion) != Mode::kInclusion) {
      return {Location(31253), StrCat("an exclusion cannot include the field '", element.name, "'")};
    }
    mode_ = Mode::kInclusion;
    return {};
  }

  Status Positional(Parent parent, std::string_view name) {
    if (has_positional_) return {Location(31276), "a projection can be positional in one path only"};
    if (has_elem_match_) return {Location(31256), "a projection cannot have both a positional path and $elemMatch"};
    if (filter_ == nullptr) return {Location(51050), "a positional projection needs a filter"};
    if (name == ".$") return {Location(5392900), "the positional operator needs a path before it"};
    const std::string_view path = name.substr(0, name.size() - 2);
    BRAID_CHECK_OK(CheckProjectionPath(path));
    BRAID_CHECK_OK(parent.node->Add(path, MakeLeaf(Kind::kPositional)));
    plan_.filter = *filter_;
    has_positional_ = true;
    return {};
  }

  Status Exclusion(Parent parent, const bson::Element& element) {
    BRAID_CHECK_OK(CheckProjectionPath(element.name));
    BRAID_CHECK_OK(parent.node->Add(element.name, MakeLeaf(Kind::kExclude)));
    if (parent.node == &plan_.root && element.name == "_id") {
      id_excluded_ = true;
      return {};
    }
    if (mode_.value_or(Mode::kExclusion) != Mode::kExclusion) {
      return {Location(31254), StrCat("an inclusion cannot exclude the field '", element.name, "'")};
    }
    mode_ = Mode::kExclusion;
    return {};
  }

  Status Literal(Parent parent, const bson::Element& element) {
    BRAID_TRY(ExpressionPtr expression, ParseExpression(element.value, *plan_.environment));
    BRAID_CHECK_OK(CheckProjectionPath(element.name));
    BRAID_CHECK_OK(parent.node->Add(element.name, MakeComputed(std::move(expression))));
    if (mode_.value_or(Mode::kInclusion) != Mode::kInclusion) {
      return {Location(31310), StrCat("an exclusion cannot compute the field '", element.name, "'")};
    }
    mode_ = Mode::kInclusion;
    return {};
  }

  Status SubObject(Parent parent, const bson::Element& element) {
    const bson::View object = element.value.AsView();
    if (object.empty()) return {Location(51270), StrCat("the projection of '", element.name, "' is empty")};
    BRAID_CHECK_OK(CheckProjectionPath(element.name));
    const bson::Element first = *object.begin();
    if (first.name.starts_with('$') && object.Count() == 1) {
      if (find_ && first.name == "$slice") return FindSlice(parent, element);
      if (first.name == "$elemMatch") return ElemMatch(parent, element);
      if (IsExpressionName(first.name)) return Computed(parent, element);
      const bool positional = IsPositional(first.name);
      if (!CheckProjectionPath(first.name.substr(0, first.name.size() - (positional ? 2 : 0))).ok()) {
        return {Location(31325), StrCat("there is no expression ", first.name)};
      }
    }
    BRAID_TRY(ProjectionNode * inner, parent.node->Inner(element.name));
    for (const bson::Element& child : object) BRAID_CHECK_OK(Field({inner, DepthOf(parent, element.name)}, child));
    return {};
  }

  Status FindSlice(Parent parent, const bson::Element& element) {
    Status fault = AddFindSlice(parent, element);
    if (fault.ok()) return fault;
    // Anything else may be the expression of that name; if neither parses, the expression's error is reported.
    const Status status = Computed(parent, element);
    if (status.ok()) return status;
    return status.CausedBy(StrCat("neither find's $slice (", fault.message(), ") nor the expression $slice"));
  }

  Status AddFindSlice(Parent parent, const bson::Element& element) {
    auto leaf = MakeLeaf(Kind::kSlice);
    BRAID_TRY(leaf->slice, ParseSlice(element.value.AsView().begin()->value));
    BRAID_CHECK_OK(parent.node->Add(element.name, std::move(leaf)));
    has_slice_ = true;
    return {};
  }

  Status ElemMatch(Parent parent, const bson::Element& element) {
    if (!find_)
      return {Code::kInvalidPipelineOperator, "$elemMatch is not an expression: only find's projection has it"};
    const bson::Value condition = element.value.AsView().begin()->value;
    if (!condition.Is(bson::Type::kObject)) {
      return {Location(31274), StrCat("$elemMatch takes an object, not ", bson::TypeName(condition.type()))};
    }
    if (has_positional_) return {Location(31255), "a projection cannot have both a positional path and $elemMatch"};
    if (parent.node != &plan_.root || element.name.find('.') != std::string_view::npos) {
      return {Location(31275), "a projection's $elemMatch is for top-level fields only"};
    }
    auto leaf = MakeLeaf(Kind::kElemMatch);
    BRAID_TRY(leaf->condition, Filter::Parse(bson::Make(element.name, element.value), plan_.environment));
    BRAID_CHECK_OK(parent.node->Add(element.name, std::move(leaf)));
    has_elem_match_ = true;
    return {};
  }

  Status Computed(Parent parent, const bson::Element& element) {
    if (mode_ == Mode::kExclusion)
      return {Location(31252), StrCat("an exclusion cannot compute the field '", element.name, "'")};
    mode_ = Mode::kInclusion;
    Result<ExpressionPtr> expression = ParseExpression(element.value, *plan_.environment);
    if (!expression.ok() && IsSyntaxFault(expression.error().code())) return expression.error();
    Status fault = expression.status();
    BRAID_CHECK_OK(
        parent.node->Add(element.name, fault.ok() ? MakeComputed(*std::move(expression)) : MakeLeaf(Kind::kComputed)));
    return fault;
  }

  /// When nothing but _id, $slice and $elemMatch is named.
  Mode DefaultMode() const {
    if (has_slice_) return id_included_ ? Mode::kInclusion : Mode::kExclusion;
    if (has_elem_match_ || id_included_) return Mode::kInclusion;
    return Mode::kExclusion;
  }

  const bool find_;
  const Filter* const filter_;
  ProjectionPlan& plan_;
  std::optional<Mode> mode_;  // as soon as some field decides it
  bool id_named_ = false;     // _id or a path below it
  bool id_included_ = false;  // _id: 1
  bool id_excluded_ = false;  // _id: 0
  bool has_positional_ = false;
  bool has_elem_match_ = false;
  bool has_slice_ = false;
};

}  // namespace

Result<ProjectionPlan> ParseProjection(bson::View specification, Projection::Use use, const Filter* filter,
                                       std::shared_ptr<const Environment> environment) {
  ProjectionPlan plan{.environment = std::move(environment)};
  BRAID_CHECK_OK(ProjectionParser(use, filter, &plan).Run(specification));
  return plan;
}

}  // namespace braid::query
