// $rename: moves the value of one field to another path, in two branches: the destination takes it, the source is
// removed.
#include <algorithm>

#include "base/strings.h"
#include "engine/bson/validate.h"
#include "engine/language/update/operators.h"
#include "engine/language/update/update_node.h"

namespace braid::update {
namespace {

class RenameTarget final : public Operation {
 public:
  RenameTarget(std::string_view path, std::string_view source) : Operation(path), source_(source) {}

  Result<Effect> Apply(const Target& target, ApplyContext& context, bson::Builder& out) const override {
    BRAID_TRY(const bson::Value value, FindSource(context));
    if (value.missing()) return Effect::kNone;
    if (context.arrays_entered > 0) return IntoArray(context);
    out.Append(target.name, value);
    return Effect::kWritten;
  }

  bool Creates(const ApplyContext& context) const override {
    const auto value = FindSource(context);
    return !value.ok() || !value->missing();  // an error is for Apply to report
  }

  Status DeadEnd(const bson::Value& element, std::string_view part, const ApplyContext& context) const override {
    BRAID_TRY(const bson::Value value, FindSource(context));
    if (value.missing()) return {};
    if (context.arrays_entered > 0) return IntoArray(context);
    return Operation::DeadEnd(element, part, context);
  }

  /// Unknown: whatever moves to a longer path may end up too deep.
  int operand_depth() const override {
    return std::ranges::count(path(), '.') > std::ranges::count(source_, '.') ? bson::kDepthMax : 0;
  }

 private:
  Status IntoArray(const ApplyContext& context) const {
    return {Code::kBadValue, StrCat("The destination '", path(),
                                    "' of $rename must not lead through an array in document ", IdText(context))};
  }

  /// Missing if there is nothing to rename; an error if the path ends at a scalar or leads through an array.
  Result<bson::Value> FindSource(const ApplyContext& context) const {
    bson::Value value(context.before);
    bool through_array = false;
    for (size_t at = 0; at <= source_.size();) {
      const size_t dot = std::min(source_.find('.', at), source_.size());
      const std::string_view part(source_.data() + at, dot - at);
      at = dot + 1;
      if (value.Is(bson::Type::kObject)) {
        value = value.AsView().Find(part);
      } else if (const auto index = ArrayIndex(part); value.Is(bson::Type::kArray) && index.has_value()) {
        through_array = true;
        value = value.AsView().At(*index);
      } else {
        return Operation::DeadEnd(value, part, context);
      }
      if (value.missing()) return value;
    }
    if (through_array) {
      return Status(
          Code::kBadValue,
          StrCat("The source '", source_, "' of $rename must not lead through an array in document ", IdText(context)));
    }
    return value;
  }

  std::string source_;
};

/// Removes the source if it exists: by then the destination has taken its value, or the update has failed.
class RenameSource final : public Operation {
 public:
  using Operation::Operation;
  Result<Effect> Apply(const Target&, ApplyContext&, bson::Builder&) const override { return Effect::kRemoved; }
  bool Creates(const ApplyContext& /*context*/) const override { return false; }
  Status DeadEnd(const bson::Value&, std::string_view, const ApplyContext&) const override { return {}; }
};

bool IsDynamic(std::string_view path) {
  for (const std::string_view part : Split(path, '.')) {
    if (part == "$" || ElementsIdentifier(part).has_value()) return true;
  }
  return false;
}

bool IsAncestor(std::string_view prefix, std::string_view path) {
  return path.size() > prefix.size() && path.starts_with(prefix) && path[prefix.size()] == '.';
}

}  // namespace

Status ParseRename(const Operand& operand, std::vector<Branch>* branches) {
  if (!operand.value.Is(bson::Type::kString)) {
    return {Code::kBadValue,
            StrCat("The destination of $rename must be a string, not a ", bson::TypeName(operand.value.type()))};
  }
  const std::string_view from = operand.path;
  const std::string_view to = operand.value.AsString();
  if (to.find('\0') != std::string_view::npos) return {Code::kBadValue, "The destination of $rename has a null byte"};
  BRAID_CHECK_OK(CheckPath(to));
  if (from == to)
    return {Code::kBadValue, StrCat("The source and the destination of $rename must differ: '", from, "'")};
  if (IsAncestor(from, to) || IsAncestor(to, from)) {
    return {Code::kBadValue,
            StrCat("The source '", from, "' and the destination '", to, "' of $rename must not contain each other")};
  }
  if (IsDynamic(from)) return {Code::kBadValue, StrCat("The source of $rename must not be positional: ", from)};
  if (IsDynamic(to)) return {Code::kBadValue, StrCat("The destination of $rename must not be positional: ", to)};
  branches->push_back({std::string(from), std::make_shared<const RenameSource>(from)});
  branches->push_back({std::string(to), std::make_shared<const RenameTarget>(to, from)});
  return {};
}

}  // namespace braid::update
