// Operands that several operators and the keywords of $jsonSchema accept: whole numbers, as $size, $bitsAllSet and
// maxLength take them, and sets of BSON types, as $type, type and bsonType name them.
#pragma once

#include <cstdint>
#include <string_view>

#include "braid/status.h"
#include "engine/bson/value.h"

namespace braid::query {

/// The number as a whole number of 64 bits, not negative; kFailedToParse, quoting name and value, if it is something
/// else.
Result<int64_t> NonNegativeInteger(std::string_view name, const bson::Value& value);

/// A set of BSON types.
class TypeSet {
 public:
  void Add(bson::Type type) { bits_ |= Bit(type); }
  void AddNumbers();
  bool Has(bson::Type type) const { return (bits_ & Bit(type)) != 0; }
  bool empty() const { return bits_ == 0; }

  /// Adds the type that an alias ("int", "number", …) or a number (-1 and 255: minKey) names; kBadValue if there is
  /// none, kTypeMismatch if the value is neither.
  Status AddNamed(const bson::Value& name);
  /// As $type takes it: one name or an array of them (not empty: kFailedToParse).
  static Result<TypeSet> Parse(const bson::Value& names);

 private:
  static constexpr uint32_t Bit(bson::Type type) {
    const auto code = static_cast<uint32_t>(type);
    return uint32_t{1} << (code == 255 ? 31 : code == 127 ? 30 : code);
  }
  uint32_t bits_ = 0;
};

}  // namespace braid::query
