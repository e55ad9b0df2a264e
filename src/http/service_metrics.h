// Figures of the services as metrics: the explorer's progress and the state of the settlement log's chains.
#pragma once

#include "http/api.h"
#include "http/metrics.h"

namespace braid::http {

/// Reads them from the store. A service that the store does not have gives families without samples, and one that
/// cannot be read is skipped: the other metrics are especially useful then.
void WriteServiceMetrics(Api& api, Exposition& out);

}  // namespace braid::http
