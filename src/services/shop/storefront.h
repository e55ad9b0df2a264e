// The shop at a glance: newest orders, stock, carts. For operators, not for shoppers.
#pragma once

#include <string>

#include "braid/clients.h"
#include "client/handles.h"

namespace braid::shop {

/// orders: the newest `limit`; stock: per geo zone, `oversold` being the products of which more was sold than there was
/// (none, ever); lowest: where least is left; carts: how many by status. Reads every product and cart.
Status AppendStorefront(Clients& clients, const std::string& database, int64_t limit, client::Bson& json);

}  // namespace braid::shop
