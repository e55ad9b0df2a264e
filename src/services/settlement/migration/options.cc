#include "services/settlement/migration/options.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "base/assert.h"
#include "base/strings.h"

namespace braid::settlement::migration {
namespace {

constexpr std::string_view kNames[] = {"none",      "preflight", "dual_write", "backfill", "verify",     "verified",
                                       "switching", "switched",  "dropping",   "dropped",  "rolled_back"};

}  // namespace

std::string_view NameOf(Phase phase) {
  BRAID_ASSERT(static_cast<size_t>(phase) < std::size(kNames));
  return kNames[static_cast<size_t>(phase)];
}

Result<Phase> PhaseOf(std::string_view name) {
  const auto found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return Status(Code::kRecordDamaged, StrCat("unknown phase of migration: ", name));
  return static_cast<Phase>(found - std::begin(kNames));
}

Status MigrationOptions::Validate() const {
  if (database.empty() || log.empty() || old_table.empty() || state.empty()) {
    return Status(Code::kBadValue, "a migration needs a database and names for its collections");
  }
  BRAID_CHECK_OK(layout.Validate());
  std::set<std::string> names;
  for (const std::string& name :
       {old_table, state, queue(), sessions(), log, log + "_heads", log + "_leases", log + "_repairs", log + "_tree"}) {
    if (!names.insert(name).second) {
      return Status(Code::kBadValue, StrCat("two collections would have the name ", name, ": the old table, the new ",
                                            "log and the migration's state must have different ones"));
    }
  }
  if (batch_records_max < 1 || batch_records_max > 10'000) {
    return Status(Code::kBadValue, StrCat("batch_records_max is ", batch_records_max, ", not in 1..10000"));
  }
  return {};
}

const OldLayout& MigrationOptions::LayoutIn(Phase phase) const {
  static const OldLayout of_queue;
  return phase == Phase::kDropped ? of_queue : layout;
}

Status MigrationOptions::CheckStop() const {
  if (stop == nullptr || !stop->load()) return {};
  return Status(Code::kInterrupted, "interrupted; run it again to continue from here");
}

}  // namespace braid::settlement::migration
