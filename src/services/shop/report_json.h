// A report as JSON (F4), and the period that it is asked for.
#pragma once

#include <string>
#include <string_view>

#include "client/handles.h"
#include "services/shop/report.h"

namespace braid::shop {

/// The first and the last day as YYYY-MM-DD in UTC; empty: no bound.
struct Period {
  std::string from;
  std::string to;
};
/// kBadValue if one is no day, or the first is after the last; `prefix` goes before the names in the message: "--".
Status ReadPeriod(const Period& period, std::string_view prefix, ReportOptions& options);

void AppendReport(const Report& report, client::Bson& json);

}  // namespace braid::shop
