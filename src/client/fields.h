// Reading single fields of a document; a path may have dots.
#pragma once

#include <mongoc/mongoc.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace braid::client {

/// Any number as an integer; 0 if there is none.
int64_t IntegerOf(const bson_t* document, const char* path);

/// Empty if it is not a string. Lives as long as the document.
std::string_view TextOf(const bson_t* document, const char* path);

/// True only for the boolean true.
bool BoolOf(const bson_t* document, const char* path);

/// Milliseconds since 1970; nothing if it is not a date.
std::optional<int64_t> DateOf(const bson_t* document, const char* path);

/// The bytes of a binary; empty if it is not one. Lives as long as the document.
std::string_view BinaryOf(const bson_t* document, const char* path);

}  // namespace braid::client
