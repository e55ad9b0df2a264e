// Figures of the services as metrics.
#include "http/metrics.h"

#include <algorithm>
#include <optional>

#include "http/api.h"
#include "services/explorer/source/sync_status.h"

namespace braid::http {
namespace {

// A figure that may have no value.
void WriteFigure(const char* name, const char* type, const char* help, std::optional<int64_t> value, Exposition& out) {
  out.Family(name, type, help);
  if (value) out.Sample(static_cast<double>(*value));
}

void WriteGauge(const char* name, const char* help, std::optional<int64_t> value, Exposition& out) {
  WriteFigure(name, "gauge", help, value, out);
}

void WriteExplorer(Api& api, Exposition& out) {
  std::optional<int64_t> tip;
  std::optional<int64_t> lag;
  std::optional<int64_t> popped;
  std::optional<int64_t> switches;
  if (const auto index = api.Explorer(); index.ok()) {
    if (const auto at = (*index)->Tip(); at.ok()) tip = at->epoch;
    const auto sync = explorer::source::LoadSyncFigures(api.clients(), (*index)->options().database);
    // Others may have changed the tip since it was noted.
    if (sync.ok() && *sync) {
      popped = (*sync)->popped;
      switches = (*sync)->switches;
    }
    if (sync.ok() && *sync && tip) lag = std::max<int64_t>(0, (*sync)->node_epoch - *tip);
  }
  WriteGauge("braid_explorer_tip_epoch", "The newest epoch of the explorer's index; -1: it is empty.", tip, out);
  WriteGauge("braid_explorer_lag_epochs", "Epochs that the node of the last sync had, and the index has not.", lag,
             out);
  WriteFigure("braid_explorer_epochs_popped_total", "counter",
              "Epochs that the last sync has taken back because the node's pivot changed.", popped, out);
  WriteFigure("braid_explorer_reorganisations_total", "counter",
              "Changes of the pivot that the last sync has followed.", switches, out);
}

void WriteSettlement(Api& api, Exposition& out) {
  std::optional<int64_t> chains;
  std::optional<int64_t> records;
  std::optional<int64_t> halted;
  if (const auto figures = api.SettlementFigures(); figures.ok()) {
    chains = figures->chains;
    records = figures->records;
    halted = figures->halted;
  }
  WriteGauge("braid_settlement_chains", "Chains of the settlement log: one per symbol.", chains, out);
  WriteGauge("braid_settlement_records", "Records of all chains.", records, out);
  WriteGauge("braid_settlement_halted_chains", "Chains that accept nothing until they are corrected or repaired.",
             halted, out);
}

void WriteStaking(Api& api, Exposition& out) {
  std::optional<int64_t> shards;
  if (const auto tables = api.StakingTables(); tables.ok()) shards = (*tables)->overall->shard_count();
  WriteGauge("braid_staking_logical_shards", "Documents that each counter is spread over, and read for one sum.",
             shards, out);
}

}  // namespace

void WriteServiceMetrics(Api& api, Exposition& out) {
  WriteStaking(api, out);
  WriteExplorer(api, out);
  WriteSettlement(api, out);
}

}  // namespace braid::http
