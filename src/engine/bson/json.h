// Extended JSON in and out; and the shell-like text that error messages quote.
#pragma once

#include <string>
#include <string_view>

#include "braid/status.h"
#include "engine/bson/value.h"

namespace braid::bson {

enum class JsonForm { kRelaxed, kCanonical };

/// One JSON object, Extended JSON version 2, and of version 1 what is no query operator: { "$type": … } and
/// { "$regex": … } stay objects. kFailedToParse says what was expected and where.
Result<Document> FromJson(std::string_view text);
/// For tests and literals: aborts on bad JSON. Single quotes are allowed for double quotes: J("{'a': 1}").
Document J(std::string_view text);

/// Text that is no UTF-8 cannot be JSON: such a document comes out as ToShell shows it.
std::string ToJson(View document, JsonForm form = JsonForm::kRelaxed);
/// A single value, without its name; arrays as [ … ].
std::string ToJson(const Value& value, JsonForm form = JsonForm::kRelaxed);

/// As MongoDB prints documents in messages: { a: 1, b: "x", c: ObjectId('…') }.
std::string ToShell(View document);
std::string ToShell(const Value& value);

}  // namespace braid::bson
