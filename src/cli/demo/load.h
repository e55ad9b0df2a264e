// Load: the repeated work of one part of the demo, and the table of all loads.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <span>

#include "braid/clients.h"
#include "cli/demo/journal.h"

namespace braid::cli::demo {

/// The resources that loads use. All of them outlive the loads.
struct Setting {
  Clients& clients;
  Journal& journal;
  const std::atomic<bool>& stop;  ///< ends waits for the store
};

/// One thread.
class Load {
 public:
  virtual ~Load() = default;
  /// Does a little. After an error the same step is tried again: it must be safe to repeat.
  virtual Status Step() = 0;
};

/// Opens a load: afterwards its service has data. A store that already has data continues with it.
using OpenLoad = Result<std::unique_ptr<Load>> (*)(const Setting& setting);
Result<std::unique_ptr<Load>> OpenStaking(const Setting& setting);
Result<std::unique_ptr<Load>> OpenShop(const Setting& setting);
Result<std::unique_ptr<Load>> OpenSale(const Setting& setting);
Result<std::unique_ptr<Load>> OpenSettlement(const Setting& setting);
Result<std::unique_ptr<Load>> OpenExplorer(const Setting& setting);
Result<std::unique_ptr<Load>> OpenShards(const Setting& setting);

struct LoadKind {
  const char* name;                 ///< of its document in demo.status
  std::chrono::milliseconds pause;  ///< between two steps
  OpenLoad open;
};

/// Every load of the demo.
std::span<const LoadKind> AllLoads();

}  // namespace braid::cli::demo
