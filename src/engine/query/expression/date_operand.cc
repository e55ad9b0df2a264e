// ObjectIds begin with their seconds in big-endian order; timestamps have theirs in the upper half.
#include "engine/query/expression/date_operand.h"

#include "engine/query/expression/calendar.h"

namespace braid::query {

using bson::Type;

Result<int64_t> DateOf(const bson::Value& value) {
  switch (value.type()) {
    case Type::kDate: return value.AsDate();
    case Type::kTimestamp: return static_cast<int64_t>(value.AsTimestamp() >> 32) * kMillisPerSecond;
    case Type::kObjectId: {
      int64_t seconds = 0;
      for (char c : value.AsObjectId().substr(0, 4)) seconds = seconds << 8 | static_cast<unsigned char>(c);
      return seconds * kMillisPerSecond;
    }
    default: return CallError(16006, "can't convert from BSON type ", bson::TypeName(value.type()), " to Date");
  }
}

Result<TimeZone> ZoneOperand(const Call& call, size_t i) { return call.Has(i) ? TimeZone::Of(call[i]) : TimeZone(); }

}  // namespace braid::query
