// Dates to text and back by a format of % specifiers, and text in the usual forms back to dates.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "braid/status.h"
#include "engine/language/expression/time_zone.h"

namespace braid::query {

constexpr std::string_view kIsoFormatUtc = "%Y-%m-%dT%H:%M:%S.%LZ";
constexpr std::string_view kIsoFormatLocal = "%Y-%m-%dT%H:%M:%S.%L";

constexpr std::string_view kMonthNames[] = {"January", "February", "March",     "April",   "May",      "June",
                                            "July",    "August",   "September", "October", "November", "December"};

/// Location(18535) for a % at the end, Location(18536) for an unknown specifier; `parsing` allows those of ParseDate.
Status CheckDateFormat(std::string_view format, bool parsing);

/// `format` has passed CheckDateFormat. Location(18537) for years outside 0 … 9999.
Result<std::string> FormatDate(int64_t utc_millis, std::string_view format, const TimeZone& zone);

/// Text by a format; kConversionFailure if it does not fit. `zone` is the operand, if there was one: text with a zone
/// of its own is then refused.
Result<int64_t> ParseDate(std::string_view text, std::string_view format, const std::optional<TimeZone>& zone);

/// Text in one of the usual forms: 2021-02-03T04:05:06.789Z, 2021-02-03 04:05, 20210203T040506+0100, "Feb 3, 2021", "3
/// February 2021", ….
Result<int64_t> ParseDate(std::string_view text, const std::optional<TimeZone>& zone);

}  // namespace braid::query
