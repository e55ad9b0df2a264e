// braid staking audit: are the totals what the delegations say? (A9)
#include "services/staking/audit.h"
#include "cli/patience.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/strings.h"
#include "cli/common_options.h"
#include "cli/staking/actions.h"
#include "client/handles.h"
#include "services/staking/json.h"

namespace braid::cli::staking {
namespace {

using braid::staking::AuditReport;
using braid::staking::Difference;
using braid::staking::Tables;
using braid::staking::ToText;

struct AuditArgs {
  Common common;
  bool repair = false;
};

constexpr size_t kShownMax = 20;

void PrintJson(const AuditReport& report) {
  client::Bson json;
  AppendAudit(report, json);
  client::PrintJson(json);
}

void PrintText(const AuditReport& report) {
  std::printf("%llu delegations of %llu stakers with %llu finality providers, %llu locks, %llu pending events\n",
              static_cast<unsigned long long>(report.delegations), static_cast<unsigned long long>(report.stakers),
              static_cast<unsigned long long>(report.finality_providers), static_cast<unsigned long long>(report.locks),
              static_cast<unsigned long long>(report.pending_events));
  for (size_t i = 0; i < std::min(kShownMax, report.differences.size()); ++i) {
    const Difference& difference = report.differences[i];
    std::printf("%s %s: %s is %s, the delegations say %s\n", difference.where.c_str(),
                difference.id.empty() ? "(all)" : difference.id.c_str(), difference.field.c_str(),
                ToText(difference.found).c_str(), ToText(difference.expected).c_str());
  }
  if (report.differences_total > kShownMax) {
    std::printf("… %llu differences in all\n", static_cast<unsigned long long>(report.differences_total));
  }
}

Status RunAudit(AuditArgs& args) {
  const Patience patience(args.common.store, {});
  BRAID_TRY(const std::unique_ptr<Clients> clients,
            OpenStoreFor(args.common.store, args.repair ? StoreUse::kExisting : StoreUse::kRead));
  BRAID_TRY(const std::unique_ptr<Tables> tables, Tables::OpenToRead(*clients, args.common.options));
  BRAID_TRY(const AuditReport report, Audit(*clients, *tables, args.repair));
  args.common.json ? PrintJson(report) : PrintText(report);
  if (report.ok()) {
    if (!args.common.json) std::printf("every total agrees with the delegations\n");
    return {};
  }
  if (args.repair) {
    return Status(Code::kOperationFailed,
                  StrCat(report.differences_total, " differences were found and ", report.repaired,
                         " totals and flags repaired: run the audit again to confirm"));
  }
  return Status(Code::kOperationFailed,
                StrCat(report.differences_total,
                       " differences; nothing was changed. --repair corrects totals and flags from the delegations"));
}

}  // namespace

Action SetUpAudit(CLI::App& app) {
  const auto args = std::make_shared<AuditArgs>();
  AddCommonOptions(app, args->common);
  app.add_flag("--repair", args->repair, "Corrects totals and flags from the delegations.");
  return [args] { return RunAudit(*args); };
}

}  // namespace braid::cli::staking
