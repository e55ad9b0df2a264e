#include "engine/language/project/projection_walk.h"

#include "base/assert.h"
#include "base/strings.h"

namespace braid::query {

using Kind = ProjectionNode::Kind;
using bson::Type;

namespace {
constexpr size_t kComputedBytesMax = 64 << 20;  // the largest document between two stages: larger than a stored one
}  // namespace

/// Which children of a node the document has had a field for.
class ProjectionWalk::Seen {
 public:
  explicit Seen(size_t children) {
    if (children > 64) more_.resize(children - 64);
  }
  void Add(size_t child) {
    if (child < 64) {
      first_ |= uint64_t{1} << child;
    } else {
      more_[child - 64] = true;
    }
  }
  bool Has(size_t child) const { return child < 64 ? ((first_ >> child) & 1) != 0 : more_[child - 64]; }

 private:
  uint64_t first_ = 0;
  std::vector<bool> more_;
};

Status ProjectionWalk::Object(const ProjectionNode& node, bson::View object, Scope scope) {
  Seen seen(node.computes ? node.children.size() : 0);
  for (auto field = object.begin(), end = object.end(); field != end; ++field) {
    const int32_t at = node.Find(field->name);
    if (at < 0) {
      if (keeps_rest_) out_.AppendRaw(field.raw());
      continue;
    }
    BRAID_ASSERT(static_cast<size_t>(at) < node.children.size());  // it was sealed with these children
    const ProjectionNode& child = *node.children[at];
    // An inclusion appends whole computed fields at the end; nested ones stay where their parent is.
    if (!keeps_rest_ && child.computes && child.kind != Kind::kPath) continue;
    if (child.computes) seen.Add(at);
    BRAID_CHECK_OK(Field(child, field, scope));
  }
  return node.computes ? Computed(node, &seen) : Status();
}

Status ProjectionWalk::Field(const ProjectionNode& node, const bson::View::Iterator& field, Scope scope) {
  const bool array = field->value.Is(Type::kArray);
  switch (node.kind) {
    case Kind::kPath: return PathField(node, field, scope);
    case Kind::kExclude: return {};
    case Kind::kComputed: return ComputedField(node);
    case Kind::kElemMatch: return ElemMatch(node);
    case Kind::kSlice:
      if (!array || !scope.slices) break;
      AppendSlice(node.name, field->value.AsView(), node.slice, &out_);
      return {};
    case Kind::kPositional: {
      if (!array || !scope.positional) break;
      out_.OpenArray(node.name);
      BRAID_CHECK_OK(MatchedElement(node, field->value.AsView(), scope));
      out_.Close();
      return {};
    }
    case Kind::kInclude: break;
  }
  out_.AppendRaw(field.raw());
  return {};
}

Status ProjectionWalk::PathField(const ProjectionNode& node, const bson::View::Iterator& field, Scope scope) {
  if (field->value.Is(Type::kObject)) {
    out_.OpenObject(node.name);
    BRAID_CHECK_OK(Object(node, field->value.AsView(), scope));
  } else if (field->value.Is(Type::kArray)) {
    out_.OpenArray(node.name);
    BRAID_CHECK_OK(Array(node, field->value.AsView(), scope));
  } else if (node.computes) {  // a scalar gives way to an object of what is computed below it
    out_.OpenObject(node.name);
    BRAID_CHECK_OK(Computed(node, nullptr));
  } else {
    if (keeps_rest_) out_.AppendRaw(field.raw());
    return {};
  }
  out_.Close();
  return {};
}

Status ProjectionWalk::Array(const ProjectionNode& node, bson::View array, Scope scope) {
  if (node.positional && scope.positional) return MatchedElement(node, array, scope);
  Work& work = Work::Current();
  for (const bson::Element& element : array) {
    BRAID_CHECK_OK(work.Tick());
    BRAID_CHECK_OK(ArrayElement(node, element.value, scope));
  }
  return {};
}

Status ProjectionWalk::ArrayElement(const ProjectionNode& node, const bson::Value& value, Scope scope) {
  if (value.Is(Type::kObject)) {
    out_.OpenNextObject();
    BRAID_CHECK_OK(Object(node, value.AsView(), scope));
  } else if (value.Is(Type::kArray)) {
    scope.slices = false;
    out_.OpenNextArray();
    BRAID_CHECK_OK(Array(node, value.AsView(), scope));
  } else if (node.computes) {
    out_.OpenNextObject();
    BRAID_CHECK_OK(Computed(node, nullptr));
  } else {
    if (keeps_rest_) out_.AppendNext(value);
    return {};
  }
  out_.Close();
  return {};
}

Status ProjectionWalk::MatchedElement(const ProjectionNode& node, bson::View array, Scope scope) {
  BRAID_TRY(const int index, MatchedIndex());
  const bson::Value element = array.At(static_cast<size_t>(index));
  const size_t size_before = out_.size();
  scope.positional = false;
  if (node.kind == Kind::kPositional) {
    out_.AppendNext(element);
  } else if (!element.missing()) {
    BRAID_CHECK_OK(ArrayElement(node, element, scope));
  }
  if (out_.size() != size_before) return {};
  return {Location(51247), "the positional operator names an array without the element that the filter met"};
}

Result<int> ProjectionWalk::MatchedIndex() {
  BRAID_ASSERT(plan_.filter);  // a positional projection is parsed with its find
  MatchDetails details;
  BRAID_TRY(const bool matches, plan_.filter->Matches(document_, &details));
  if (matches && details.array_index >= 0) return details.array_index;
  return Status(Location(51246), "the positional operator found no array element that the filter met");
}

Status ProjectionWalk::Computed(const ProjectionNode& node, const Seen* seen) {
  for (size_t at = 0; at < node.children.size(); ++at) {
    const ProjectionNode& child = *node.children[at];
    if (!child.computes || (seen != nullptr && seen->Has(at))) continue;
    if (child.kind == Kind::kComputed) {
      BRAID_CHECK_OK(ComputedField(child));
    } else if (child.kind == Kind::kElemMatch) {
      BRAID_CHECK_OK(ElemMatch(child));
    } else {
      out_.OpenObject(child.name);
      BRAID_CHECK_OK(Computed(child, nullptr));
      out_.Close();
    }
  }
  return {};
}

Status ProjectionWalk::ComputedField(const ProjectionNode& node) {
  BRAID_ASSERT(node.expression != nullptr && plan_.environment != nullptr);
  const bson::Arena::Mark before = arena_.mark();
  BRAID_TRY(const bson::Value value, Evaluate(*node.expression, document_, *plan_.environment, arena_));
  if (out_.size() + value.bytes().size() > kComputedBytesMax) {
    return {Code::kBSONObjectTooLarge, StrCat("a projection would make a document of more than ", kComputedBytesMax,
                                              " bytes: the value of '", node.name, "' does not fit")};
  }
  out_.Append(node.name, value);  // $$REMOVE and paths that lead nowhere are missing: no field
  arena_.Compact(before, bson::Value());
  return {};
}

Status ProjectionWalk::ElemMatch(const ProjectionNode& node) {
  BRAID_ASSERT(node.condition.has_value());
  MatchDetails details;
  BRAID_TRY(const bool matches, node.condition->Matches(document_, &details));
  if (!matches) return {};
  const bson::Value array = document_.Find(node.name);
  BRAID_ASSERT(array.Is(Type::kArray) && details.array_index >= 0);
  out_.OpenArray(node.name).AppendNext(array.AsView().At(static_cast<size_t>(details.array_index))).Close();
  return {};
}

}  // namespace braid::query
