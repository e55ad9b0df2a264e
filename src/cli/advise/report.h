// The advice for people (a table and prose) and for programs (one JSON object).
#pragma once

#include <string>

#include "cli/advise/advice.h"

namespace braid::advise {

/// A line about the input, the table, the recommendation and its commands.
std::string ToText(const Advice& advice);

/// One object; docs/tools.md describes its fields. Names are never changed, only added.
std::string ToJson(const Advice& advice);

}  // namespace braid::advise
