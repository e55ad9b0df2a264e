// Reading the JSON objects of an epoch: known fields are checked and spelled in one way, others kept as they are, and
// an error names the field by its whole path.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/strings.h"
#include "braid/status.h"
#include "client/handles.h"

namespace braid::explorer {

namespace json = simdjson::dom;

/// The path of a value, which becomes text only if there is an error to report. Lives on the stack of its readers.
struct EpochPath {
  const EpochPath* parent = nullptr;
  std::string_view name = {};  ///< of a field, or of the whole; empty for the element of a list
  size_t index = 0;

  /// "epoch 7, blocks[2].transactions[0].from"
  std::string ToString() const;
};

/// kBadValue: "epoch 7, blocks[2].hash: is missing".
Status BadField(const EpochPath& path, std::string_view what);

enum class FieldKind {
  kHash,      // 0x and 64 hexadecimal digits; becomes lower case
  kAddress,   // 0x and 40; becomes lower case
  kQuantity,  // 0x and 1 to 256 digits, kept as given
  kHex,       // 0x and any even number of digits, kept as given
  kHashes,    // an array of hashes, which becomes a JSON text
  kDropped,   // ignored: it is computed, or read elsewhere
};

template <typename Owner>
struct KnownField {
  std::string_view name;
  FieldKind kind;
  bool needed = false;
  std::string Owner::*member = nullptr;  // takes the value, if there is one
  bool stored = true;
};

/// The value in the spelling of its kind.
Status ReadKnown(json::element value, FieldKind kind, const EpochPath& path, std::string& text);

/// The same for the name of a field of `path`.
Status ReadHash(std::string_view given, const EpochPath& path, std::string& text);

/// Appends an unknown field unchanged.
Status AppendUnknown(json::element value, const EpochPath& path, bson_t* fields);

/// A quantity as an integer; kBadValue if it is above 2^63 - 1.
Result<int64_t> NumberOf(const EpochPath& path, std::string_view quantity);

/// kBadValue if a document with these fields could be too large to be stored.
Status CheckSize(const EpochPath& path, const bson_t* fields);

/// Reads the fields of an object into the members of `owner` and, except those that are null or not stored, into
/// `fields`. No field may occur twice, and required fields must be present.
template <typename Owner, size_t count>
Status ReadFields(json::element value, const EpochPath& path, const KnownField<Owner> (&known)[count], Owner& owner,
                  bson_t* fields) {
  json::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS) return BadField(path, "is not an object");
  static_assert(count <= 64);
  uint64_t seen = 0;
  uint64_t present = 0;
  std::string text;
  for (const auto& [name, element] : object) {
    const EpochPath here{&path, name};
    size_t i = 0;
    while (i < count && known[i].name != name) ++i;
    if (i == count) {
      if (!element.is_null()) BRAID_CHECK_OK(AppendUnknown(element, here, fields));
      continue;
    }
    const KnownField<Owner>& field = known[i];
    if ((seen >> i & 1) != 0) return BadField(here, "is there twice");
    seen |= uint64_t{1} << i;
    if (element.is_null()) continue;
    present |= uint64_t{1} << i;
    if (field.kind == FieldKind::kDropped) continue;
    BRAID_CHECK_OK(ReadKnown(element, field.kind, here, text));
    if (field.stored) {
      bson_append_utf8(fields, name.data(), static_cast<int>(name.size()), text.data(), static_cast<int>(text.size()));
    }
    if (field.member != nullptr) owner.*field.member = text;
  }
  for (size_t i = 0; i < count; ++i) {
    if (known[i].needed && (present >> i & 1) == 0) return BadField(EpochPath{&path, known[i].name}, "is missing");
  }
  return CheckSize(path, fields);
}

}  // namespace braid::explorer
