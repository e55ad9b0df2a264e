// Array filters: the elements that `$[identifier]` stands for.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/language/match/filter.h"

namespace braid::update {

/// The arrayFilters of one update. Immutable after Parse, any thread.
class ArrayFilters {
 public:
  static Result<ArrayFilters> Parse(const std::vector<bson::View>& specifications,
                                    const std::shared_ptr<const query::Environment>& environment);

  /// kBadValue if the path uses an identifier without a filter. Notes the identifiers it uses in `used`.
  Status CheckIdentifiers(std::string_view path, std::set<std::string, std::less<>>* used) const;
  /// kFailedToParse if some filter is not among the used ones.
  Status CheckAllUsed(const std::set<std::string, std::less<>>& used) const;

  /// Whether the array element meets the filter of that identifier; "" is met by all.
  Result<bool> Matches(std::string_view identifier, const bson::Value& element) const;

 private:
  struct Entry {
    std::string identifier;
    query::Filter filter;
  };
  const Entry* Find(std::string_view identifier) const;

  std::vector<Entry> entries_;
  std::map<std::string, size_t, std::less<>> places_;  // in entries_, by identifier
};

}  // namespace braid::update
