// Whether a migration has begun that outputs must go through: asked before outputs are taken in by another way (files,
// TCP, HTTP), and now and then while they are.
#pragma once

#include <chrono>
#include <string>

#include "services/settlement/migration/state.h"
#include "services/settlement/service.h"

namespace braid::settlement::migration {

/// One thread at a time. The Clients must outlive it.
class MigrationWatch {
 public:
  MigrationWatch(Clients& clients, const Options& options)
      : clients_(clients), database_(options.database), log_(options.log) {}

  /// kIllegalOperation if a migration is running. Asks the store at most once per second; errors of the store are left
  /// to the writers.
  Status Check() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return {};
    next_ = now + std::chrono::seconds(1);
    const Status status = CheckNotUnderWay(clients_, database_, log_);
    return status.code() == Code::kIllegalOperation ? status : Status();
  }

 private:
  Clients& clients_;
  const std::string database_;
  const std::string log_;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace braid::settlement::migration
