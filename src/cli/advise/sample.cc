#include "cli/advise/sample.h"

#include <algorithm>
#include <numeric>

#include "engine/bson/compare.h"

namespace braid::advise {
namespace {

bool AllHave(const Sample& sample, std::string_view field, bson::Type type) {
  return std::all_of(sample.documents.begin(), sample.documents.end(),
                     [&](const bson::Document& document) { return document.Find(field).Is(type); });
}

InsertionOrder OrderBy(const Sample& sample, const std::string& field, std::vector<size_t> indexes) {
  std::stable_sort(indexes.begin(), indexes.end(), [&](size_t a, size_t b) {
    return bson::Compare(sample.documents[a].Find(field), sample.documents[b].Find(field)) < 0;
  });
  return {std::move(indexes), field};
}

}  // namespace

std::optional<InsertionOrder> FindInsertionOrder(const Sample& sample) {
  if (sample.documents.empty()) return std::nullopt;
  std::vector<size_t> indexes(sample.documents.size());
  std::iota(indexes.begin(), indexes.end(), 0);
  if (AllHave(sample, "_id", bson::Type::kObjectId)) return OrderBy(sample, "_id", std::move(indexes));
  if (sample.in_order) return InsertionOrder{std::move(indexes), "file"};
  for (const bson::Element& field : sample.documents.front().view()) {
    if (!field.value.Is(bson::Type::kDate)) continue;
    const std::string name(field.name);
    if (AllHave(sample, name, bson::Type::kDate)) return OrderBy(sample, name, std::move(indexes));
  }
  return std::nullopt;
}

}  // namespace braid::advise
