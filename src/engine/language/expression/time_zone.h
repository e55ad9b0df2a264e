// TimeZone: UTC, a fixed offset ("+05:30", "-0300", "+02") or a named zone ("Europe/Berlin", from ICU's tables). Dates
// and zones as operands of the date operators.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "braid/status.h"
#include "engine/bson/value.h"
#include "engine/language/expression/evaluation.h"

namespace braid::query {

/// Small and copied freely; named zones live as long as the process. Any thread.
class TimeZone {
 public:
  TimeZone() = default;  ///< UTC
  static TimeZone Fixed(int64_t offset_millis) {
    TimeZone zone;
    zone.offset_ = offset_millis;
    return zone;
  }
  /// Location(40485) if the text is neither an offset nor a known name.
  static Result<TimeZone> Find(std::string_view name);
  /// The operand `timezone`: a string, else Location(40517).
  static Result<TimeZone> Of(const bson::Value& value);

  bool IsUtc() const { return zone_ == nullptr && offset_ == 0; }
  /// What is added to UTC at that moment.
  int64_t OffsetAt(int64_t utc_millis) const;
  int64_t ToLocal(int64_t utc_millis) const { return utc_millis + OffsetAt(utc_millis); }
  /// Times that a change of clocks skips or repeats are read with the offset before the change.
  int64_t ToUtc(int64_t local_millis) const;

 private:
  const void* zone_ = nullptr;  // ICU's zone; null: offset_ alone
  int64_t offset_ = 0;
};

inline bool IsDateLike(const bson::Value& value) {
  return value.Is(bson::Type::kDate) || value.Is(bson::Type::kTimestamp) || value.Is(bson::Type::kObjectId);
}

/// Milliseconds of a date, a timestamp or an ObjectId; Location(16006) for the rest.
Result<int64_t> DateOf(const bson::Value& value);

/// The zone given as named operand `i`; UTC if not given.
Result<TimeZone> ZoneOperand(const Call& call, size_t i);

}  // namespace braid::query
