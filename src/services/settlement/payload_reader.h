// Payloads as EncodePayload() spells them, read without a JSON parser. Inside this folder only.
#pragma once

#include <string_view>

#include "services/settlement/output.h"

namespace braid::settlement {

/// True if the text is a payload in its one spelling and consists only of what nearly all of them have: strings of
/// ASCII without escapes, integers of up to 18 digits, an `input` of one level. Then `output` is what
/// OutputParser::Parse() would give. False does not mean that the text is invalid: the full parser decides.
bool ReadPlainPayload(std::string_view payload, Output& output);

}  // namespace braid::settlement
