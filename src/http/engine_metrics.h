// The figures of the store as metrics. The engine counts; this only converts them to Prometheus's format.
#pragma once

#include "http/metrics.h"
#include "mongoc/mongoc.h"

namespace braid::http {

/// `server_status` is the reply of the command serverStatus.
void WriteEngineMetrics(const bson_t& server_status, Exposition& out);

}  // namespace braid::http
