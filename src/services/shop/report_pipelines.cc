#include "services/shop/report_pipelines.h"

#include "base/strings.h"

namespace braid::shop {
namespace {

void FillIn(std::string& text, std::string_view name, const std::string& value) {
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size())) {
    text.replace(at, name.size(), value);
  }
}

std::string DateBound(const char* comparison, int64_t millis) {
  return StrCat("\"", comparison, "\": {\"$date\": {\"$numberLong\": \"", millis, "\"}}");
}

// With a bound every status is named, so that the index {status, created_at} finds the orders of the period; without
// one all orders are read anyway.
std::string MatchOf(const ReportOptions& options, ReportedOrders which) {
  const bool sold = which == ReportedOrders::kSold;
  if (!options.from_ms && !options.to_ms) return sold ? R"({"status": {"$ne": "canceled"}})" : "{}";
  std::string bounds;
  if (options.from_ms) bounds += DateBound("$gte", *options.from_ms);
  if (options.to_ms) bounds += StrCat(bounds.empty() ? "" : ", ", DateBound("$lt", *options.to_ms));
  return StrCat(R"({"status": {"$in": ["paid", "shipped", "delivered")", sold ? "" : R"(, "canceled")",
                R"(]}, "created_at": {)", bounds, "}}");
}

}  // namespace

std::string FillPipeline(std::string_view pipeline, const ReportOptions& options, ReportedOrders which) {
  std::string text(pipeline);
  FillIn(text, "$MATCH", MatchOf(options, which));
  FillIn(text, "$TOP", StrCat(options.top));
  return text;
}

std::string FillSellersPipeline(const ReportOptions& options, const std::string& by) {
  std::string text = FillPipeline(kSellersPipeline, options, ReportedOrders::kSold);
  FillIn(text, "$BY", by);
  return text;
}

}  // namespace braid::shop
