// Extended JSON in and out; and the shell-like text that error messages quote.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "braid/status.h"
#include "engine/bson/value.h"

namespace braid::bson {

enum class JsonForm { kRelaxed, kCanonical };

/// One JSON object in Extended JSON version 2, or version 1 except where its forms are query operators: { "$type": … }
/// and { "$regex": … } stay objects. kFailedToParse says what was expected and where.
Result<Document> FromJson(std::string_view text);
/// For tests and literals: aborts on bad JSON. Single quotes are allowed for double quotes: J("{'a': 1}").
Document J(std::string_view text);

/// Text that is not UTF-8 cannot be JSON: such a document is printed by ToShell instead.
std::string ToJson(View document, JsonForm form = JsonForm::kRelaxed);
/// A single value, without its name; arrays as [ … ].
std::string ToJson(const Value& value, JsonForm form = JsonForm::kRelaxed);

/// As MongoDB prints documents in messages: { a: 1, b: "x", c: ObjectId('…') }.
std::string ToShell(View document);
std::string ToShell(const Value& value);

namespace json {
/// For FromJson() only (json_types.cc): the value that a parsed object such as { "$oid": "…" } stands for; nullopt if
/// it is just an object, as { "$type": "int" } is. kFailedToParse if its first name says it should be a value but the
/// rest does not fit.
Result<std::optional<OwnedValue>> TypedValue(View object);
}  // namespace json

}  // namespace braid::bson
