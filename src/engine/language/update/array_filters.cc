#include "engine/language/update/array_filters.h"

#include <algorithm>
#include <optional>

#include "base/strings.h"
#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "engine/language/update/update_node.h"

namespace braid::update {
namespace {

/// Notes the first component of every path in the filter; all must be the same.
Status CollectIdentifier(const query::MatchNode& node, std::optional<std::string>* identifier) {
  if (node.op() == query::MatchOp::kExpr || node.op() == query::MatchOp::kJsonSchema) {
    return {Code::kQueryFeatureNotAllowed, "$expr and $jsonSchema are not allowed in array filters"};
  }
  const std::string_view path = node.path();
  if (!path.empty()) {
    const std::string_view first = path.substr(0, path.find('.'));
    if (!identifier->has_value()) *identifier = std::string(first);
    if (**identifier != first) {
      return {Code::kFailedToParse, StrCat("An array filter must have a single top-level field name, found '",
                                           **identifier, "' and '", first, "'")};
    }
    return {};
  }
  for (const auto& child : node.children()) BRAID_CHECK_OK(CollectIdentifier(*child, identifier));
  return {};
}

bool IsIdentifier(std::string_view name) {
  const auto alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !name.empty() && name.front() >= 'a' && name.front() <= 'z' && std::ranges::all_of(name, alphanumeric);
}

}  // namespace

Result<ArrayFilters> ArrayFilters::Parse(const std::vector<bson::View>& specifications,
                                         const std::shared_ptr<const query::Environment>& environment) {
  ArrayFilters filters;
  for (const bson::View specification : specifications) {
    auto filter = query::Filter::Parse(specification, environment);
    if (!filter.ok()) return filter.error().CausedBy("Error parsing array filter");
    std::optional<std::string> identifier;
    BRAID_CHECK_OK(CollectIdentifier(filter->root(), &identifier));
    if (!identifier.has_value()) {
      return Status(Code::kFailedToParse,
                    StrCat("An array filter needs a top-level field name: ", bson::ToShell(specification)));
    }
    if (!IsIdentifier(*identifier)) {
      return Status(Code::kBadValue,
                    StrCat("The field name of an array filter must be alphanumeric and begin with a lower-case "
                           "letter, found '",
                           *identifier, "'"));
    }
    if (filters.Find(*identifier) != nullptr) {
      return Status(Code::kFailedToParse,
                    StrCat("Several array filters have the same top-level field name ", *identifier));
    }
    filters.places_.emplace(*identifier, filters.entries_.size());
    filters.entries_.push_back({std::move(*identifier), *std::move(filter)});
  }
  return filters;
}

const ArrayFilters::Entry* ArrayFilters::Find(std::string_view identifier) const {
  const auto found = places_.find(identifier);
  return found == places_.end() ? nullptr : &entries_[found->second];
}

Status ArrayFilters::CheckIdentifiers(std::string_view path, std::set<std::string, std::less<>>* used) const {
  for (const std::string_view part : Split(path, '.')) {
    const auto identifier = ElementsIdentifier(part);
    if (!identifier.has_value() || identifier->empty()) continue;
    if (Find(*identifier) == nullptr) {
      return {Code::kBadValue, StrCat("No array filter found for identifier '", *identifier, "' in path '", path, "'")};
    }
    used->emplace(*identifier);
  }
  return {};
}

Status ArrayFilters::CheckAllUsed(const std::set<std::string, std::less<>>& used) const {
  for (const Entry& entry : entries_) {
    if (used.contains(entry.identifier)) continue;
    return {Code::kFailedToParse,
            StrCat("The array filter for identifier '", entry.identifier, "' was not used in the update")};
  }
  return {};
}

Result<bool> ArrayFilters::Matches(std::string_view identifier, const bson::Value& element) const {
  if (identifier.empty()) return true;
  const Entry* entry = Find(identifier);
  BRAID_ASSERT(entry != nullptr);
  return entry->filter.Matches(bson::Make(identifier, element).view());
}

}  // namespace braid::update
