// Figures of the services as metrics: how far the explorer is, and how the chains of the settlement log stand.
#pragma once

#include "http/api.h"
#include "http/metrics.h"

namespace braid::http {

/// Reads them from the store. A service that the store does not have gives families without samples, and one that
/// cannot be read is passed over: the other metrics are worth having all the more then.
void WriteServiceMetrics(Api& api, Exposition& out);

}  // namespace braid::http
