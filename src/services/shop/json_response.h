// Results as JSON: amounts are strings, times are ISO 8601, field names are those of the documents (B1).
#pragma once

#include <string>

#include "client/handles.h"
#include "services/shop/shop.h"

namespace braid::shop {

void AppendResult(const Product& product, client::Bson& out);
void AppendResult(const CataloguePage& page, client::Bson& out);
void AppendResult(const Cart& cart, client::Bson& out);
/// The cart's fields, `merged`, and `messages` on the lines that were not merged in full.
void AppendResult(const Merge& merge, client::Bson& out);
void AppendResult(const Order& order, client::Bson& out);
void AppendResult(const HistoryPage& page, client::Bson& out);

/// {"ok": true, "result": {…}}
std::string SuccessJson(const client::Bson& result);
/// {"error": {"code": …, "message": …, "lines": […]}}
std::string RefusalJson(const Refusal& refusal);
/// {"ok": false, "error": {"code": …, "message": …, "lines": […]}}; the code of a store's error is "store_error".
std::string FailureJson(const Status& status);

}  // namespace braid::shop
