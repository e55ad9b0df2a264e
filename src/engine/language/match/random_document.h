// Random documents over a few names and values, so that they often coincide. For property tests.
#pragma once

#include "base/random.h"
#include "engine/bson/builder.h"

namespace braid::query {

inline void AppendRandomValue(Random& random, bson::Builder& out, std::string_view name, int depth) {
  switch (random.Below(depth > 0 ? 11 : 8)) {
    case 0: out.Append(name, static_cast<int32_t>(random.Below(4)) - 1); break;
    case 1: out.Append(name, static_cast<int64_t>(random.Below(4)) - 1); break;
    case 2: out.Append(name, static_cast<double>(random.Below(6)) / 2 - 1); break;
    case 3: out.Append(name, bson::Null{}); break;
    case 4: out.Append(name, random.Chance(1, 2)); break;
    case 5: out.Append(name, random.Chance(1, 2) ? "a" : "ab"); break;
    case 6: out.Append(name, bson::Date{static_cast<int64_t>(random.Below(3)) - 1}); break;
    case 7: random.Chance(1, 2) ? out.Append(name, bson::MinKey{}) : out.Append(name, bson::MaxKey{}); break;
    case 8:
      out.OpenObject(name);
      for (std::string_view field : {"a", "b", "0"}) {
        if (random.Chance(1, 3)) AppendRandomValue(random, out, field, depth - 1);
      }
      out.Close();
      break;
    default: {
      static constexpr std::string_view kIndexes[] = {"0", "1", "2"};
      out.OpenArray(name);
      for (uint64_t i = 0, n = random.Below(4); i < n; ++i) AppendRandomValue(random, out, kIndexes[i], depth - 1);
      out.Close();
    }
  }
}

inline bson::Document RandomDocument(Random& random) {
  bson::Builder out;
  for (std::string_view field : {"a", "b"}) {
    if (random.Chance(5, 6)) AppendRandomValue(random, out, field, 3);
  }
  return out.Finish();
}

/// A single value, as the field "v" of a document.
inline bson::Document RandomValue(Random& random) {
  bson::Builder out;
  AppendRandomValue(random, out, "v", 2);
  return out.Finish();
}

}  // namespace braid::query
