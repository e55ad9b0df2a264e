// Hints.
#include "engine/exec/plan/hint.h"

#include "base/assert.h"
#include "engine/bson/compare.h"
#include "engine/bson/key_encoding.h"
#include "engine/bson/number.h"

namespace braid::query::plan {
namespace {

constexpr const char* kNoSuchIndex =
    "error processing query: planner returned error :: caused by :: hint provided does not correspond to an existing "
    "index";

bool Visible(const catalog::Index& index) { return !index.building && !index.spec.hidden; }

Result<std::shared_ptr<const catalog::Index>> FindByName(const catalog::Collection& collection, std::string_view name) {
  for (const auto& index : collection.indexes) {
    if (index->spec.name == name && Visible(*index)) return index;
  }
  return Status(Code::kBadValue, kNoSuchIndex);
}

Result<std::shared_ptr<const catalog::Index>> FindByPattern(const catalog::Collection& collection, bson::View pattern) {
  for (const auto& index : collection.indexes) {
    if (Visible(*index) && bson::Compare(index->spec.key_pattern.view(), pattern) == 0) return index;
  }
  return Status(Code::kBadValue, kNoSuchIndex);
}

bool SameNames(bson::View a, bson::View b) {
  auto i = a.begin();
  auto j = b.begin();
  for (; i != a.end() && j != b.end(); ++i, ++j) {
    if (i->name != j->name) return false;
  }
  return i == a.end() && j == b.end();
}

// min and max have to name every field of the index, in any order.
bool Fits(const catalog::IndexSpec& spec, bson::View limit) {
  if (limit.Count() != spec.fields.size()) return false;
  for (const catalog::IndexField& field : spec.fields) {
    if (!limit.Has(field.path)) return false;
  }
  return true;
}

Status CheckLimits(const Query& query, const Hint& hint) {
  if (query.min && query.max && !SameNames(*query.min, *query.max)) {
    return Status(Location(51176), "min and max must have the same field names");
  }
  if (hint.index == nullptr) {
    return Status(Location(51173), "When using min()/max() a hint of which index to use must be provided");
  }
  const catalog::IndexSpec& spec = hint.index->spec;
  if ((query.min && !Fits(spec, *query.min)) || (query.max && !Fits(spec, *query.max))) {
    return Status(Location(51174), "The index chosen is not compatible with min/max");
  }
  if (!query.min || !query.max) return {};
  if (EncodeLimit(spec, *query.min) < EncodeLimit(spec, *query.max)) return {};
  return Status(Location(51175), "The value provided for min() does not come before the value provided for max()");
}

}  // namespace

std::string EncodeLimit(const catalog::IndexSpec& spec, bson::View limit) {
  const bson::Collation* const collation = spec.is_id() ? nullptr : spec.collation.get();
  std::string key;
  for (const catalog::IndexField& field : spec.fields) {
    const bson::Value value = limit.Find(field.path);
    BRAID_ASSERT(!value.missing());
    bson::AppendKey(&key, value, field.descending, collation);
  }
  return key;
}

Result<Hint> ResolveHint(const Query& query) {
  Hint hint;
  if (!query.hint_name.empty()) {
    BRAID_TRY(hint.index, FindByName(*query.collection, query.hint_name));
  } else if (query.hint && !query.hint->empty()) {
    const bson::Value natural = query.hint->Find("$natural");
    if (!natural.missing()) {
      const auto number = bson::NumberOf(natural);
      const int64_t direction = number ? number->ToInt64Exact().value_or(0) : 0;
      if (direction != 1 && direction != -1) {
        return Status(Code::kBadValue, "$natural hint must be 1 or -1");
      }
      hint.natural = static_cast<int>(direction);
    } else {
      BRAID_TRY(hint.index, FindByPattern(*query.collection, *query.hint));
    }
  }
  if (query.min || query.max) {
    BRAID_CHECK_OK(CheckLimits(query, hint));
    hint.limits = KeyLimits{query.min, query.max};
  }
  return hint;
}

}  // namespace braid::query::plan
