// Interval: construction, set operations on the encoded ranges, and explain's text.
#include "engine/query/plan/interval.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"
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
    Interval gap{rest.low, interval.low, rest.low_inclusive, !interval.low_inclusive, rest.begin, interval.begin};
    if (!gap.empty()) gaps.push_back(std::move(gap));
    rest.low = interval.high;
    rest.low_inclusive = !interval.high_inclusive;
    rest.begin = interval.end;
  }
  if (!rest.empty()) gaps.push_back(std::move(rest));
  return gaps;
}

}  // namespace braid::query::plan
