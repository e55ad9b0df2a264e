// Named zones are made once and kept: the zone objects of ICU are costly to make, and immutable afterwards.
#include "engine/language/expression/time_zone.h"

#include <unicode/basictz.h>
#include <unicode/timezone.h>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "base/strings.h"
#include "engine/language/expression/calendar.h"

namespace braid::query {
namespace {

const icu::BasicTimeZone* Zone(const void* zone) { return static_cast<const icu::BasicTimeZone*>(zone); }

/// ±HH, ±HHMM or ±HH:MM.
std::optional<int64_t> ParseOffset(std::string_view text) {
  if (text.size() < 3 || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  const int64_t sign = text[0] == '-' ? -1 : 1;
  std::string digits(text.substr(1));
  if (digits.size() == 5 && digits[2] == ':') digits.erase(2, 1);
  if (digits.size() != 2 && digits.size() != 4) return std::nullopt;
  if (digits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  const int64_t hours = (digits[0] - '0') * 10 + (digits[1] - '0');
  const int64_t minutes = digits.size() == 4 ? (digits[2] - '0') * 10 + (digits[3] - '0') : 0;
  return sign * (hours * kMillisPerHour + minutes * kMillisPerMinute);
}

/// Null for unknown names. ICU would also take offsets in disguise ("GMT+7:15"); those are no names.
const icu::BasicTimeZone* Lookup(const std::string& name) {
  static SharedMutex mutex;
  static auto* zones BRAID_PT_GUARDED_BY(mutex) =
      new std::map<std::string, const icu::BasicTimeZone*, std::less<>>();  // kept for good
  {
    const ReaderLock lock(mutex);
    if (auto found = zones->find(name); found != zones->end()) return found->second;
  }
  std::unique_ptr<icu::TimeZone> made(icu::TimeZone::createTimeZone(icu::UnicodeString::fromUTF8(name)));
  icu::UnicodeString id;
  made->getID(id);
  const bool custom = name.starts_with("GMT") && name.size() > 5;
  const auto* zone = dynamic_cast<const icu::BasicTimeZone*>(made.get());
  if (custom || zone == nullptr || id == icu::UnicodeString("Etc/Unknown")) return nullptr;
  const WriterLock lock(mutex);
  auto [at, inserted] = zones->emplace(name, zone);
  if (inserted) (void)made.release();  // the map's now
  return at->second;
}

}  // namespace

Result<TimeZone> TimeZone::Find(std::string_view name) {
  if (name == "UTC" || name == "GMT" || name == "Z") return TimeZone();
  if (std::optional<int64_t> offset = ParseOffset(name)) return Fixed(*offset);
  const icu::BasicTimeZone* found = name.empty() ? nullptr : Lookup(std::string(name));
  if (found == nullptr) return Status(Location(40485), StrCat("unrecognized time zone identifier: \"", name, "\""));
  TimeZone zone;
  zone.zone_ = found;
  return zone;
}

Result<TimeZone> TimeZone::Of(const bson::Value& value) {
  if (!value.Is(bson::Type::kString)) {
    return Status(Location(40517), StrCat("timezone must evaluate to a string, found ", bson::TypeName(value.type())));
  }
  return Find(value.AsString());
}

int64_t TimeZone::OffsetAt(int64_t utc_millis) const {
  if (zone_ == nullptr) return offset_;
  int32_t raw = 0;
  int32_t saving = 0;
  UErrorCode error = U_ZERO_ERROR;
  Zone(zone_)->getOffset(static_cast<double>(utc_millis), false, raw, saving, error);
  return int64_t{raw} + saving;
}

int64_t TimeZone::ToUtc(int64_t local_millis) const {
  if (zone_ == nullptr) return local_millis - offset_;
  int32_t raw = 0;
  int32_t saving = 0;
  UErrorCode error = U_ZERO_ERROR;
  Zone(zone_)->getOffsetFromLocal(static_cast<double>(local_millis), UCAL_TZ_LOCAL_FORMER, UCAL_TZ_LOCAL_FORMER, raw,
                                  saving, error);
  return local_millis - raw - saving;
}

using bson::Type;

// ObjectIds begin with their seconds in big-endian order; timestamps have theirs in the upper half.
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
