// Whether a migration has begun that outputs must go through: asked before an ingest, and now and then while it runs.
#pragma once

#include <chrono>

#include "services/settlement/migration/state.h"
#include "services/settlement/service.h"

namespace braid::cli::settlement {

/// One thread at a time. The Clients and the options must outlive it.
class MigrationWatch {
 public:
  MigrationWatch(Clients& clients, const braid::settlement::Options& options) : clients_(clients), options_(options) {}

  /// kIllegalOperation if one is under way. Asks the store once a second at most; a store that fails then is noticed by
  /// those who write to it.
  Status Check() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return {};
    next_ = now + std::chrono::seconds(1);
    const Status status = braid::settlement::migration::CheckNotUnderWay(clients_, options_.database, options_.log);
    return status.code() == Code::kIllegalOperation ? status : Status();
  }

 private:
  Clients& clients_;
  const braid::settlement::Options& options_;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace braid::cli::settlement
