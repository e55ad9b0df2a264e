// Load: what one part of the demo does over and over, and the table of all of them.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <span>

#include "braid/clients.h"
#include "cli/demo/journal.h"

namespace braid::cli::demo {

/// What loads work on. All of it outlives them.
struct Setting {
  Clients& clients;
  Journal& journal;
  const std::atomic<bool>& stop;  ///< ends what waits for the store
};

/// One thread.
class Load {
 public:
  virtual ~Load() = default;
  /// Does a little. After an error the same step is tried again: it must be safe to repeat.
  virtual Status Step() = 0;
};

/// Opens a load: afterwards its service has data, its first if it had none. A store that has data goes on with it.
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
