// Reads JSON strictly: every field must be known, unique and of its type; an error names the field by its whole path.
// Payloads in their one spelling are read without a JSON parser. Inside this folder only.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/strings.h"
#include "braid/status.h"
#include "services/settlement/effects.h"
#include "services/settlement/output.h"

namespace braid::settlement {

namespace json = simdjson::dom;

/// The path of a value, which becomes text only if there is an error to report. Lives on the stack of its readers.
struct Where {
  const Where* parent = nullptr;
  std::string_view name = {};  ///< of a field; empty for the element of a list
  size_t index = 0;

  /// "trades[3].price"
  std::string ToString() const;
};

/// The beginning of a text, of at most `bytes_max` bytes, cut between characters.
std::string_view Shortened(std::string_view text, size_t bytes_max);

/// kBadValue: "trades[3].price is missing".
Status Bad(const Where& where, std::string_view what);

/// The value of a field that must, or may, be there. `read` is called with the element and its Where.
template <typename Read>
struct Field {
  std::string_view name;
  bool needed;
  Read read;
};
template <typename Read>
Field<Read> Needed(std::string_view name, Read read) {
  return {name, true, read};
}
template <typename Read>
Field<Read> Optional(std::string_view name, Read read) {
  return {name, false, read};
}

template <typename... Fields>
Status ReadObject(json::element value, const Where& where, const Fields&... fields) {
  json::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS) return Bad(where, "is not an object");
  uint32_t found = 0;
  for (const auto& [name, element] : object) {
    const Where here{&where, name};
    Status status;
    uint32_t bit = 1;
    const auto try_field = [&, &name = name, &element = element](const auto& field) {
      if (name != field.name) {
        bit <<= 1;
        return false;
      }
      status = (found & bit) != 0 ? Bad(here, "is there twice") : field.read(element, here);
      found |= bit;
      return true;
    };
    if (!(try_field(fields) || ...)) return Bad(here, "is unknown");
    if (!status.ok()) return status;
  }
  uint32_t bit = 1;
  Status status;
  const auto check = [&](const auto& field) {
    const bool missing = field.needed && (found & bit) == 0;
    if (missing) status = Bad(Where{&where, field.name}, "is missing");
    bit <<= 1;
    return missing;
  };
  static_cast<void>((check(fields) || ...));
  return status;
}

Status ReadInteger(json::element value, const Where& where, int64_t least, int64_t& out);
/// At most kTextBytesMax bytes.
Status ReadText(json::element value, const Where& where, bool may_be_empty, std::string& out);
Status ReadId(json::element value, const Where& where, Id& out);
Status ReadDecimal(json::element value, const Where& where, bool must_be_positive, Decimal& out);
Status ReadHash(json::element value, const Where& where, ChainHash& out);

/// OutputParser::Locate() and LocateSequence(), of JSON.
std::optional<Located> LocateOutput(json::element document);
std::optional<int64_t> LocateSequenceOf(json::element document);

/// The value in the one spelling that output.h describes. kBadValue if a name is there twice or it is too deep.
Status AppendCanonical(json::element value, const Where& where, int depth, std::string& out);
/// With its quotation marks.
void AppendText(std::string_view text, std::string& out);

/// True if the text is a payload in its one spelling and consists only of what nearly all of them have: strings of
/// ASCII without escapes, integers of up to 18 digits, an `input` of one level. Then `output` is what
/// OutputParser::Parse() would give. False does not mean that the text is invalid: the full parser decides.
bool ReadPlainPayload(std::string_view payload, Output& output);
/// The same of what it does to the views, pointing into the text.
bool ReadPlainEffects(std::string_view payload, Effects& effects);

}  // namespace braid::settlement
