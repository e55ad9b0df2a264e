// What the tests of projections share.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/testing/testing.h"
#include "engine/bson/json.h"
#include "engine/language/project/projection.h"

namespace braid::query::test {

inline std::shared_ptr<const Environment> NoEnvironment() { return std::make_shared<Environment>(); }

inline Result<std::unique_ptr<const Projection>> ParseText(std::string_view specification, Projection::Use use,
                                                           const Filter* filter = nullptr) {
  return Projection::Parse(bson::J(specification), use, filter, NoEnvironment());
}

/// The document as shown, or "error <code>" of the parser or of Apply().
inline std::string Show(const Result<std::unique_ptr<const Projection>>& projection, std::string_view document) {
  if (!projection.ok()) return "error " + std::to_string(static_cast<int>(projection.error().code()));
  bson::Arena arena;
  const Result<bson::Document> shown = (*projection)->Apply(bson::J(document), arena);
  if (!shown.ok()) return "error " + std::to_string(static_cast<int>(shown.error().code()));
  return bson::ToJson(*shown);
}

/// As Show() writes a document.
inline std::string Canonical(std::string_view document) { return bson::ToJson(bson::J(document)); }

/// What a projection shows of a document.
struct Case {
  const char* specification;
  const char* document;
  const char* expected;
};

inline void Check(const Case& c, Projection::Use use) {
  EXPECT_EQ(Show(ParseText(c.specification, use), c.document), Canonical(c.expected))
      << c.specification << " of " << c.document;
}

/// 0 if the specification is accepted.
inline int CodeOf(std::string_view specification, Projection::Use use, const Filter* filter = nullptr) {
  return static_cast<int>(ParseText(specification, use, filter).status().code());
}

}  // namespace braid::query::test
