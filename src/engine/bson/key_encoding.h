// Key encoding: values as bytes whose memcmp order is Compare()'s order. Index entries, document keys and sort keys are
// made of it.
#pragma once

#include <string>
#include <string_view>

#include "engine/bson/value.h"

namespace braid::bson {

class Collation;

// One value is a type byte and what follows it, most significant byte first:
//
//   04 MinKey                          3c binary      size, subtype, bytes       size: 1 byte, or ff and 4 bytes
//   08 undefined                       40 ObjectId    12 bytes
//   0c null                            44 bool        00 or 01
//   10 … 2f number     key_bytes.h     48 date        milliseconds + 2^63, 8 bytes
//   30 string, symbol  text            4c timestamp   8 bytes
//   34 object          fields          50 regex       pattern 00 options 00
//   38 array           values 00       54 DBPointer   size, bytes as in BSON
//                                      58 code        text
//                                      5c codeWScope  text fields                f0 MaxKey
//
//   text    any bytes, 00 written as 01 01 and 01 as 01 02, then 00; under a collation those of the sort key
//   fields  each: type byte (10 for any number), name, 00, value; then 00

/// Appends one value. For all a, b and any suffixes that are encodings too:
///   Compare(a, b) < 0  ⇔  Encode(a) < Encode(b), and the encodings are equal iff Compare(a, b) == 0 (so 1, 1.0,
///   Long(1), Decimal 1
/// are one key). Self-delimiting: no encoding is a proper prefix of another. Descending fields: every byte inverted.
/// Strings go through the collation when there is one (also inside documents and arrays).
/// Missing is encoded as undefined; the caller maps missing to null where MongoDB does (index keys, sort keys).
void AppendKey(std::string* out, const Value& value, bool descending = false, const Collation* collation = nullptr);

/// Bytes below / above every encoded value, for bounds that are open at one end.
constexpr char kBelowAll = '\x00';
constexpr char kAboveAll = '\xff';

/// The number of bytes the encoded value at the start of `key` takes; needed to step over a field of a compound key.
size_t KeySize(std::string_view key, bool descending = false);

}  // namespace braid::bson
