#include "engine/balance/policy.h"

#include <algorithm>
#include <cmath>

#include "base/assert.h"

namespace braid::balance {

std::optional<Transfer> NextTransfer(const std::vector<Load>& loads, const Tolerance& tolerance, bool* under_way) {
  double total = 0;
  size_t usable = 0;
  const Load* least = nullptr;
  for (const Load& load : loads) {
    total += load.amount;
    if (load.draining) continue;
    ++usable;
    if (least == nullptr || load.amount < least->amount) least = &load;
  }
  if (least == nullptr) return std::nullopt;
  const double mean = total / static_cast<double>(usable);
  const auto surplus = [mean](const Load& load) { return load.draining ? load.amount : load.amount - mean; };

  const Load* most = nullptr;
  double deviation = 0;
  for (const Load& load : loads) {
    deviation = std::max(deviation, load.draining ? load.amount : std::abs(load.amount - mean));
    if (load.stuck || surplus(load) <= 0) continue;
    if (most == nullptr || surplus(load) > surplus(*most)) most = &load;
  }
  if (deviation > tolerance.begin) *under_way = true;
  if (!*under_way || most == nullptr) return std::nullopt;
  const double amount = std::min(surplus(*most), mean - least->amount);
  if (amount < tolerance.end) {
    *under_way = false;
    return std::nullopt;
  }
  BRAID_ASSERT(most != least && amount >= 0);
  return Transfer{most->shard, least->shard, amount};
}

}  // namespace braid::balance
