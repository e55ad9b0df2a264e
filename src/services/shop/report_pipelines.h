// The pipelines of the report, as they would be typed in a shell. $MATCH, $TOP and $BY are filled in.
#pragma once

#include <string_view>

namespace braid::shop {

/// Orders, canceled ones too, by month, country and currency.
inline constexpr std::string_view kRevenuePipeline = R"([
  {"$match": $MATCH},
  {"$group": {
    "_id": {"month": {"$dateToString": {"date": "$created_at", "format": "%Y-%m"}}, "country": "$geo_zone", "currency": "$currency"},
    "orders": {"$sum": {"$cond": [{"$eq": ["$status", "canceled"]}, 0, 1]}},
    "revenue": {"$sum": {"$cond": [{"$eq": ["$status", "canceled"]}, {"$numberDecimal": "0"}, "$total_amount"]}},
    "canceled_orders": {"$sum": {"$cond": [{"$eq": ["$status", "canceled"]}, 1, 0]}},
    "canceled_amount": {"$sum": {"$cond": [{"$eq": ["$status", "canceled"]}, "$total_amount", {"$numberDecimal": "0"}]}}}},
  {"$sort": {"_id.month": 1, "revenue": -1, "_id.country": 1, "_id.currency": 1}}])";

/// Units and revenue of each product, the highest first by $BY, which is one of the two.
inline constexpr std::string_view kSellersPipeline = R"([
  {"$match": $MATCH},
  {"$unwind": "$items"},
  {"$group": {
    "_id": {"product_id": "$items.product_id", "currency": "$currency"},
    "units": {"$sum": "$items.qty"},
    "revenue": {"$sum": {"$multiply": ["$items.price", "$items.qty"]}}}},
  {"$sort": {"$BY": -1, "_id.product_id": 1, "_id.currency": 1}},
  {"$limit": $TOP}])";

/// Sums over the orders of a currency.
inline constexpr std::string_view kBasketsPipeline = R"([
  {"$match": $MATCH},
  {"$group": {
    "_id": "$currency", "orders": {"$sum": 1}, "lines": {"$sum": {"$size": "$items"}}, "units": {"$sum": {"$sum": "$items.qty"}},
    "revenue": {"$sum": "$total_amount"}, "mean_amount": {"$avg": "$total_amount"}}},
  {"$set": {"mean_amount": {"$round": ["$mean_amount", 2]}}},
  {"$sort": {"_id": 1}}])";

/// How many orders have so many lines, in ascending order: percentiles are read off it, exactly.
inline constexpr std::string_view kLinesPipeline = R"([
  {"$match": $MATCH},
  {"$group": {"_id": {"currency": "$currency", "value": {"$size": "$items"}}, "orders": {"$sum": 1}}},
  {"$sort": {"_id.currency": 1, "_id.value": 1}}])";

/// The same for amounts.
inline constexpr std::string_view kAmountsPipeline = R"([
  {"$match": $MATCH},
  {"$group": {"_id": {"currency": "$currency", "value": "$total_amount"}, "orders": {"$sum": 1}}},
  {"$sort": {"_id.currency": 1, "_id.value": 1}}])";

}  // namespace braid::shop
