#include "engine/query/project/projection_path.h"

#include <algorithm>
#include <array>

#include "base/strings.h"

namespace braid::query {
namespace {

constexpr size_t kComponentsMax = 200;

// The fields of a DBRef and of the server's own metadata: the only ones with a dollar sign that a path may name.
// Sorted.
constexpr std::array<std::string_view, 7> kDollarNames = {
    "$db", "$id", "$recordId", "$ref", "$searchScore", "$searchSortValues", "$sortKey",
};

Status CheckComponent(std::string_view component, std::string_view path) {
  if (component.empty()) return {Location(15998), StrCat("the path '", path, "' has an empty field name")};
  if (component.front() == '$' && !std::ranges::binary_search(kDollarNames, component)) {
    return {Location(16410), StrCat("the field name '", component, "' in the path '", path, "' starts with '$'")};
  }
  if (component.find('\0') != std::string_view::npos)
    return {Location(16411), "a field name in a path contains a NUL byte"};
  return {};
}

}  // namespace

Status CheckProjectionPath(std::string_view path) {
  if (path.empty()) return {Location(40352), "a field path must not be empty"};
  if (path.back() == '.') return {Location(40353), StrCat("the field path '", path, "' ends with a dot")};
  if (static_cast<size_t>(std::ranges::count(path, '.')) >= kComponentsMax) {
    return {Code::kOverflow, StrCat("a field path has at most ", kComponentsMax, " components")};
  }
  for (std::string_view rest = path; !rest.empty();) {
    BRAID_CHECK_OK(CheckComponent(TakeComponent(&rest), path));
  }
  return {};
}

}  // namespace braid::query
