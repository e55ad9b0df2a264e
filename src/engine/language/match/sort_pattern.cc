#include "engine/language/match/sort_pattern.h"

#include <algorithm>

#include "base/assert.h"
#include "base/strings.h"
#include "engine/bson/json.h"
#include "engine/bson/key_encoding.h"
#include "engine/bson/number.h"
#include "engine/bson/validate.h"

namespace braid::query {

namespace {

using bson::Type;
using bson::Value;

Result<bool> Descending(std::string_view path, const Value& direction) {
  if (direction.Is(Type::kObject)) {
    const bson::View meta = direction.AsView();
    if (meta.empty() || meta.begin()->name != "$meta") {
      return Status(Location(17312), "$meta is the only expression supported by $sort right now");
    }
    return Status(Code::kBadValue,
                  StrCat("sorting by $meta is not supported: { ", path, ": ", bson::ToShell(direction), " }"));
  }
  const auto number = bson::NumberOf(direction);
  if (!number)
    return Status(Location(15974),
                  StrCat("Illegal key in $sort specification: ", path, ": ", bson::ToShell(direction)));
  const auto sign = number->ToInt64Exact();
  if (sign != 1 && sign != -1) {
    return Status(Location(15975), "$sort key ordering must be 1 (for ascending) or -1 (for descending)");
  }
  return sign == -1;
}

Status CheckPath(std::string_view path) {
  if (path.empty()) return Status(Location(40352), "FieldPath cannot be constructed with empty string");
  if (path.back() == '.') return Status(Location(40353), "FieldPath must not end with a '.'.");
  BRAID_CHECK_OK(bson::CheckPathLength(path));
  for (std::string_view part : Split(path, '.')) {
    if (part.empty()) return Status(Location(15998), "FieldPath field names may not be empty strings.");
    if (part.front() == '$' && part != "$id" && part != "$ref" && part != "$db") {
      return Status(
          Location(16410),
          StrCat("FieldPath field names may not start with '$'. Consider using $getField or $setField. Field: ", part));
    }
    if (part.find('\0') != std::string_view::npos) {
      return Status(Location(16411), "FieldPath field names may not contain '\\0'.");
    }
  }
  return {};
}

}  // namespace

Result<SortPattern> SortPattern::Parse(bson::View specification, std::shared_ptr<const bson::Collation> collation) {
  SortPattern pattern;
  pattern.collation_ = std::move(collation);
  for (const bson::Element& part : specification) {
    BRAID_TRY(const bool descending, Descending(part.name, part.value));
    BRAID_CHECK_OK(CheckPath(part.name));
    const auto same = [&](const Part& other) { return other.path == part.name; };
    if (std::any_of(pattern.parts_.begin(), pattern.parts_.end(), same)) {
      return Status(Location(7472500),
                    StrCat("$sort key must not contain duplicate keys (duplicated: '", part.name, "')"));
    }
    pattern.parts_.push_back({std::string(part.name), descending});
    if (pattern.parts_.size() > KeyPaths::kPathsMax) {
      return Status(Code::kBadValue, StrCat("too many compound keys in the sort pattern, at most ", KeyPaths::kPathsMax,
                                            " are allowed"));
    }
  }
  std::vector<std::string_view> paths;
  for (const Part& part : pattern.parts_) paths.push_back(part.path);
  pattern.paths_ = KeyPaths(paths);
  return pattern;
}

void SortPattern::AppendEncoded(KeyPaths::Key key, std::string* out) const {
  BRAID_ASSERT(key.size() >= parts_.size());
  static const Value kNull = bson::Arena::Null();
  for (size_t i = 0; i < parts_.size(); ++i) {
    bson::AppendKey(out, key[i].missing() ? kNull : key[i], parts_[i].descending, collation_.get());
  }
}

Status SortPattern::AppendSortKey(bson::View document, std::string* out) const {
  std::array<Value, KeyPaths::kPathsMax> plain;
  if (paths_.PlainKey(document, plain)) {
    AppendEncoded(plain, out);
    return {};
  }
  std::string least;
  std::string candidate;
  bool any = false;
  const Status status = paths_.ForEachKey(document, [&](KeyPaths::Key key) {
    candidate.clear();
    AppendEncoded(key, &candidate);
    if (!any || candidate < least) std::swap(least, candidate);
    any = true;
  });
  if (status.code() == Code::kCannotIndexParallelArrays) {
    return Status(Code::kBadValue, "cannot sort with keys that are parallel arrays");
  }
  BRAID_CHECK_OK(status);
  BRAID_ASSERT(any);  // every document has at least one key
  out->append(least);
  return {};
}

}  // namespace braid::query
