// Extended JSON in and out, through libbson; and the shell-like text that error messages quote.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "engine/bson/value.h"

namespace braid::bson {

enum class JsonForm { kRelaxed, kCanonical };

/// One JSON object (Extended JSON v2 or v1 forms); kFailedToParse with the parser's message.
Result<Document> FromJson(std::string_view text);
/// For tests and literals: aborts on bad JSON. Single quotes are allowed for double quotes: J("{'a': 1}").
Document J(std::string_view text);

std::string ToJson(View document, JsonForm form = JsonForm::kRelaxed);
/// A single value, without its name; arrays as [ … ].
std::string ToJson(const Value& value, JsonForm form = JsonForm::kRelaxed);

/// As MongoDB prints documents in messages: { a: 1, b: "x", c: ObjectId('…') }.
std::string ToShell(View document);
std::string ToShell(const Value& value);

}  // namespace braid::bson
