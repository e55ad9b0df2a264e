// Test tables of expressions: each family of operators has one; operators_test.cc checks that together they use every
// operator.
#pragma once

#include <initializer_list>
#include <span>

namespace braid::query::test {

/// `expression` over `document` gives `expected`: a JSON value, "missing", or "error CODE" (at parse time or later).
/// Single quotes stand for double quotes.
struct Case {
  const char* expression;
  const char* document;
  const char* expected;
};

using Cases = std::span<const Case>;

Cases ArithmeticCases();
Cases ArrayCases();
Cases ConditionCases();
Cases ConvertCases();
Cases DateCases();
Cases DateMathCases();
Cases IterationCases();
Cases ObjectCases();
Cases RegexCases();
Cases SetCases();
Cases StatisticsCases();
Cases StringCases();
Cases TrigonometryCases();

/// Runs them as expectations of the current test.
void Check(Cases cases);

}  // namespace braid::query::test
