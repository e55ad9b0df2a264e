// Type brackets: the smallest and largest value of each type.
#include "engine/query/plan/type_bracket.h"

#include <limits>

#include "engine/bson/arena.h"

namespace braid::query::plan {

using bson::Type;
using bson::Value;

std::optional<Interval> BracketOf(Type type, const bson::Collation* collation) {
  bson::Arena arena;
  const Value empty_object{bson::View()};
  const Value empty_array(Type::kArray, bson::View().data(), bson::View().size());
  constexpr std::string_view kEmptyBinary("\0\0\0\0\0", 5);
  switch (type) {
    case Type::kInt32:
    case Type::kInt64:
    case Type::kDouble:
    case Type::kDecimal128: {
      constexpr double kInfinity = std::numeric_limits<double>::infinity();
      return Interval::Make(arena.Double(-kInfinity), true, arena.Double(kInfinity), true, nullptr);
    }
    case Type::kString:
    case Type::kSymbol: return Interval::Make(arena.String(""), true, empty_object, false, collation);
    case Type::kObject: return Interval::Make(empty_object, true, empty_array, false, collation);
    case Type::kBinary: {
      const Value low(Type::kBinary, kEmptyBinary.data(), kEmptyBinary.size());
      return Interval::Make(low, true, arena.ObjectIdBytes(std::string(12, '\0')), false, nullptr);
    }
    case Type::kObjectId:
      return Interval::Make(arena.ObjectIdBytes(std::string(12, '\0')), true,
                            arena.ObjectIdBytes(std::string(12, '\xff')), true, nullptr);
    case Type::kBool: return Interval::Make(arena.Bool(false), true, arena.Bool(true), true, nullptr);
    case Type::kDate:
      return Interval::Make(arena.DateMillis(std::numeric_limits<int64_t>::min()), true,
                            arena.DateMillis(std::numeric_limits<int64_t>::max()), true, nullptr);
    case Type::kTimestamp:
      return Interval::Make(arena.TimestampBits(0), true, arena.TimestampBits(std::numeric_limits<uint64_t>::max()),
                            true, nullptr);
    case Type::kNull:
    case Type::kUndefined: return Interval::Make(Value(Type::kUndefined, "", 0), true, arena.Null(), true, nullptr);
    default: return std::nullopt;
  }
}

bool IsCollatable(const Value& value) {
  return value.Is(Type::kString) || value.Is(Type::kSymbol) || value.Is(Type::kObject) || value.Is(Type::kArray);
}

}  // namespace braid::query::plan
