// Operations of the shop as JSON: one object in, one object out. docs/shop.md lists them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "services/shop/shop.h"

namespace braid::shop {

struct Answer {
  std::string json;      // {"ok": …}, on one line
  Status store_failure;  // not OK if the store failed, rather than that the request was refused
};

/// Runs {"op": "checkout", …}. Any thread.
Answer AnswerRequest(Shop& shop, std::string_view request);

/// The same for callers that report success and failure in their own way: the result as JSON, or the refusal.
Result<std::string> ResultOf(Shop& shop, std::string_view request);

/// An object whose requests must keep their order: a user, a session, a product or an order.
struct Touched {
  std::string key;
  bool shared = false;  // requests that share it may run side by side
};

/// Users and sessions whose requests keep their order, and the product that a request writes or, shared, looks at.
/// Empty if the text is not a request.
std::vector<Touched> TouchedBy(std::string_view request);

}  // namespace braid::shop
