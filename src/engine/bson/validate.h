// Validate: checks that bytes from outside are a well-formed BSON document, so that Value and View may trust them.
#pragma once

#include <string_view>

#include "braid/status.h"
#include "engine/bson/value.h"

namespace braid::bson {

constexpr uint32_t kDocumentBytesMax = 16 * 1024 * 1024;               // a user's document
constexpr uint32_t kInternalBytesMax = kDocumentBytesMax + 16 * 1024;  // a reply, or a command with its envelope
constexpr int kDepthMax = 180;                                         // of a stored document
constexpr int kNestingMax = 200;  // of a message: a command around a document adds levels of its own

constexpr size_t kPathComponentsMax = 200;        // of "a.b.c", whatever it is for
constexpr size_t kFilterPathComponentsMax = 180;  // of a filter's path: no stored document is deeper

/// kOverflow if a dotted path has more components than kPathComponentsMax. All code that reads paths from a request
/// checks this first, so that walking them may be recursive.
Status CheckPathLength(std::string_view path);

/// True if documents and arrays are nested more than `levels` deep. Does not recurse further than that.
bool NestsDeeperThan(const Value& value, int levels);

/// Checks lengths, terminators, types, that booleans are 0 or 1, and that nesting is at most kNestingMax. Names and
/// strings need NOT be UTF-8 (MongoDB stores any bytes). `bytes` may be longer than the document: its own length prefix
/// says where it ends. kInvalidBSON names the offset, kOverflow is nesting too deep; no arithmetic overflow, and no
/// allocation unless it fails.
Result<View> Validate(std::string_view bytes);

}  // namespace braid::bson
