// What an upsert takes from its filter.
#include "engine/language/update/kinds.h"

#include <map>
#include <optional>
#include <string>

#include "base/strings.h"
#include "engine/bson/builder.h"

namespace braid::update {
namespace {

using query::MatchNode;
using query::MatchOp;

constexpr Code kNotExactValueField = Location(111);

using Equalities = std::map<std::string, bson::Value, std::less<>>;

Status MatchedTwice(std::string_view path, std::string_view other) {
  if (other == path) {
    return {Code::kNotSingleValueField, StrCat("cannot infer query fields to set, path '", path, "' is matched twice")};
  }
  return {Code::kNotSingleValueField,
          StrCat("cannot infer query fields to set, both paths '", other, "' and '", path, "' are matched")};
}

bool IsSameOrAncestor(std::string_view prefix, std::string_view path) {
  return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '.');
}

Status Add(std::string_view path, const bson::Value& value, Equalities* equalities) {
  for (size_t dot = path.find('.');; dot = path.find('.', dot + 1)) {
    const auto other = equalities->find(path.substr(0, dot));
    if (other != equalities->end()) return MatchedTwice(path, other->first);
    if (dot == std::string_view::npos) break;
  }
  const std::string below = StrCat(path, ".");
  const auto other = equalities->lower_bound(below);
  if (other != equalities->end() && other->first.starts_with(below)) return MatchedTwice(path, other->first);
  equalities->emplace(path, value);
  return {};
}

/// `within`: only paths that are, lead to or lie inside this one; empty: all.
Status Collect(const MatchNode& node, std::string_view within, Equalities* equalities) {
  switch (node.op()) {
    case MatchOp::kEq:
      if (!within.empty() && !IsSameOrAncestor(within, node.path())) return {};
      if (!within.empty() && node.path() != within) {
        return {kNotExactValueField,
                StrCat("cannot infer query fields to set, '", node.path(), "' is only a part of '", within, "'")};
      }
      return Add(node.path(), node.operand(), equalities);
    case MatchOp::kIn: {
      const bson::Value values = node.operand();
      if (!node.children().empty() || !values.Is(bson::Type::kArray) || values.AsView().Count() != 1) return {};
      if (!within.empty() && node.path() != within) return {};
      return Add(node.path(), values.AsView().At(0), equalities);
    }
    case MatchOp::kAnd: break;
    case MatchOp::kOr:
      if (node.children().size() != 1) return {};
      break;
    default: return {};
  }
  for (const auto& child : node.children()) BRAID_CHECK_OK(Collect(*child, within, equalities));
  return {};
}

/// Writes the paths that begin with `prefix`, which is empty or ends with a dot: they lie side by side in the map.
void Write(const Equalities& equalities, const std::string& prefix, bson::Builder& out) {
  std::optional<std::string_view> last;
  for (auto it = equalities.lower_bound(prefix); it != equalities.end() && it->first.starts_with(prefix); ++it) {
    const std::string_view rest = std::string_view(it->first).substr(prefix.size());
    const size_t dot = rest.find('.');
    if (dot == std::string_view::npos) {
      out.Append(rest, it->second);
      continue;
    }
    const std::string_view name = rest.substr(0, dot);
    if (name == last) continue;  // its whole group was written with its first path
    last = name;
    out.OpenObject(name);
    Write(equalities, StrCat(prefix, name, "."), out);
    out.Close();
  }
}

}  // namespace

Result<bson::Document> BaseFromFilter(const query::Filter& filter) {
  Equalities equalities;
  BRAID_CHECK_OK(Collect(filter.root(), "", &equalities));
  bson::Builder out;
  Write(equalities, "", out);
  return out.Finish();
}

Result<bson::Document> IdFromFilter(const query::Filter& filter) {
  Equalities equalities;
  BRAID_CHECK_OK(Collect(filter.root(), "_id", &equalities));
  bson::Builder out;
  Write(equalities, "", out);
  return out.Finish();
}

}  // namespace braid::update
