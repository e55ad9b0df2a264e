// Interval: construction, set operations on the encoded ranges, and the text of explain; the smallest and largest value
// of each type.
#include "engine/exec/plan/interval.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/assert.h"
#include "base/strings.h"
#include "engine/bson/arena.h"
#include "engine/bson/json.h"
#include "engine/bson/key_encoding.h"
#include "engine/storage/store.h"

namespace braid::query::plan {
namespace {

const bson::Value kMin(bson::Type::kMinKey, "", 0);
const bson::Value kMax(bson::Type::kMaxKey, "", 0);

std::string Encode(const bson::Value& value, const bson::Collation* collation) {
  std::string key;
  bson::AppendKey(&key, value, false, collation);
  return key;
}

std::string Show(const bson::Value& value) {
  if (value.Is(bson::Type::kDouble) && std::isinf(value.AsDouble())) return value.AsDouble() > 0 ? "inf.0" : "-inf.0";
  return bson::ToShell(value);
}

}  // namespace

Interval Interval::Make(const bson::Value& low, bool low_inclusive, const bson::Value& high, bool high_inclusive,
                        const bson::Collation* collation) {
  Interval interval{bson::OwnedValue(low), bson::OwnedValue(high), low_inclusive, high_inclusive, {}, {}};
  interval.begin = Encode(low, collation);
  if (!low_inclusive) interval.begin = storage::PrefixEnd(interval.begin);
  interval.end = Encode(high, collation);
  if (high_inclusive) interval.end = storage::PrefixEnd(interval.end);
  return interval;
}

Interval Interval::Point(const bson::Value& value, const bson::Collation* collation) {
  return Make(value, true, value, true, collation);
}

Interval Interval::All() { return Make(kMin, true, kMax, true, nullptr); }

bool Interval::IsPoint() const { return low_inclusive && high_inclusive && storage::PrefixEnd(begin) == end; }

bool Interval::IsAll() const {
  return low_inclusive && high_inclusive && low.value().Is(bson::Type::kMinKey) && high.value().Is(bson::Type::kMaxKey);
}

std::string Interval::ToString(bool reversed) const {
  const std::string from = Show(reversed ? high : low);
  const std::string to = Show(reversed ? low : high);
  const bool from_inclusive = reversed ? high_inclusive : low_inclusive;
  const bool to_inclusive = reversed ? low_inclusive : high_inclusive;
  return StrCat(from_inclusive ? "[" : "(", from, ", ", to, to_inclusive ? "]" : ")");
}

Intervals Normalize(Intervals intervals) {
  std::erase_if(intervals, [](const Interval& interval) { return interval.empty(); });
  std::sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  Intervals merged;
  for (Interval& next : intervals) {
    if (merged.empty() || merged.back().end < next.begin) {
      merged.push_back(std::move(next));
    } else if (merged.back().end < next.end) {
      merged.back().high = std::move(next.high);
      merged.back().high_inclusive = next.high_inclusive;
      merged.back().end = std::move(next.end);
    }
  }
  return merged;
}

Intervals Intersect(const Intervals& a, const Intervals& b) {
  Intervals common;
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() && j < b.size()) {
    const Interval& from = a[i].begin >= b[j].begin ? a[i] : b[j];
    const Interval& to = a[i].end <= b[j].end ? a[i] : b[j];
    Interval both{from.low, to.high, from.low_inclusive, to.high_inclusive, from.begin, to.end};
    if (!both.empty()) common.push_back(std::move(both));
    if (a[i].end <= b[j].end) {
      ++i;
    } else {
      ++j;
    }
  }
  return common;
}

Intervals Complement(const Intervals& intervals) {
  Intervals gaps;
  Interval rest = Interval::All();
  for (const Interval& interval : intervals) {
    BRAID_ASSERT(rest.begin <= interval.begin && !interval.empty());  // sorted, disjoint
    Interval gap{rest.low, interval.low, rest.low_inclusive, !interval.low_inclusive, rest.begin, interval.begin};
    if (!gap.empty()) gaps.push_back(std::move(gap));
    rest.low = interval.high;
    rest.low_inclusive = !interval.high_inclusive;
    rest.begin = interval.end;
  }
  if (!rest.empty()) gaps.push_back(std::move(rest));
  return gaps;
}

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
