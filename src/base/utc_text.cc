#include "base/utc_text.h"

#include <time.h>

#include <algorithm>
#include <string_view>

#include "base/strings.h"

namespace braid {
namespace {
constexpr int64_t kMillisOfYear1 = -62'135'596'800'000;
constexpr int64_t kMillisOf9999 = 253'402'300'799'999;
}  // namespace

std::string UtcText(int64_t millis) {
  const int64_t known = std::clamp(millis, kMillisOfYear1, kMillisOf9999);
  const int64_t rest = (known % 1000 + 1000) % 1000;
  const time_t seconds = (known - rest) / 1000;
  tm parts{};
  gmtime_r(&seconds, &parts);
  const std::string year = StrCat(parts.tm_year + 1900 + 10'000);  // strftime does not pad it
  char text[32];
  const size_t size = strftime(text, sizeof(text), "-%m-%dT%H:%M:%S", &parts);
  const std::string thousandths = StrCat(rest + 1000);
  return StrCat(std::string_view(year).substr(1), std::string_view(text, size), ".",
                std::string_view(thousandths).substr(1), "Z");
}

}  // namespace braid
