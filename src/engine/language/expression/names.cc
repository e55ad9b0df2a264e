// Which names are allowed: of fields in paths and objects, and of variables.
#include "base/strings.h"
#include "engine/bson/validate.h"
#include "engine/language/expression/operators.h"
#include "engine/language/expression/text.h"

namespace braid::query {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsBeyondAscii(char c) { return static_cast<unsigned char>(c) >= 0x80; }

}  // namespace

Status CheckFieldName(std::string_view name) {
  if (name.empty()) return {Location(15998), "FieldPath field names may not be empty strings."};
  if (name.front() == '$') {
    return {Location(16410),
            StrCat("FieldPath field names may not start with '$'. Consider using $getField or $setField: ", name)};
  }
  if (name.find('\0') != std::string_view::npos) {
    return {Location(16411), "FieldPath field names may not contain '\\0'."};
  }
  if (name.find('.') != std::string_view::npos) {
    return {Location(16412),
            StrCat("FieldPath field names may not contain '.'. Consider using $getField or $setField: ", name)};
  }
  return {};
}

Status CheckFieldPath(std::string_view path) {
  if (path.empty()) return {Location(40352), "FieldPath cannot be constructed with empty string"};
  if (path.back() == '.') return {Location(40353), "FieldPath must not end with a '.'."};
  BRAID_CHECK_OK(bson::CheckPathLength(path));
  for (std::string_view part : Split(path, '.')) BRAID_CHECK_OK(CheckFieldName(part));
  return {};
}

Status CheckVariableName(std::string_view name, bool write) {
  if (name.empty()) return {Code::kFailedToParse, "empty variable names are not allowed"};
  if (write && name == "CURRENT") return {};
  const char first = name.front();
  const bool begins = write ? (IsLetter(first) && first >= 'a') : IsLetter(first);
  if (!begins && !IsBeyondAscii(first)) {
    return {Code::kFailedToParse, StrCat("'", name, "' starts with an invalid character for a user variable name")};
  }
  for (char c : name) {
    if (!IsLetter(c) && !IsDigit(c) && c != '_' && !IsBeyondAscii(c)) {
      return {Code::kFailedToParse,
              StrCat("'", name, "' contains an invalid character for a variable name: '", c, "'")};
    }
  }
  return {};
}

}  // namespace braid::query
