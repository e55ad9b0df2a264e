// The four services at a glance, for a sample.
#pragma once

#include <string>

#include "http/api.h"

namespace braid::http {

/// A JSON object with a field per service, null where the store has none of its data.
std::string LiveServices(Api& api);

}  // namespace braid::http
