// Names of the counters' documents. Inside this folder only.
#pragma once

#include <string>
#include <string_view>

#include "base/strings.h"
#include "braid/counters.h"

namespace braid::counters {

inline constexpr const char* kSets = "counter_sets";
inline constexpr const char* kRanked = "ranked";  // of a shard's document: see ranking.cc
inline constexpr const char* kUnranked = "unranked";
inline constexpr uint32_t kShardsMax = 10'000;

inline std::string IdOf(std::string_view entity, uint32_t shard) {
  return entity.empty() ? StrCat(shard) : StrCat(entity, ":", shard);
}

inline std::string_view EntityOf(std::string_view id) {
  const size_t colon = id.rfind(':');
  return colon == std::string_view::npos ? std::string_view() : id.substr(0, colon);
}

inline Status Overflow(const CounterOptions& options, std::string_view entity, std::string_view field) {
  return Status(Code::kOverflow, StrCat(field, " of ", entity.empty() ? "the whole" : entity, " in ",
                                        options.collection, " would not fit in 64 bits"));
}

inline Status NoSuchField(const CounterOptions& options, std::string_view field) {
  return Status(Code::kBadValue, StrCat("the counters of ", options.collection, " have no field '", field, "'"));
}

}  // namespace braid::counters
