#include "services/settlement/migration/options.h"

#include <set>

#include "base/strings.h"

namespace braid::settlement::migration {

Status MigrationOptions::Validate() const {
  if (database.empty() || log.empty() || old_table.empty() || state.empty()) {
    return Status(Code::kBadValue, "a migration needs a database and names for its collections");
  }
  std::set<std::string> names;
  for (const std::string& name :
       {old_table, state, queue(), sessions(), log, log + "_heads", log + "_leases", log + "_repairs"}) {
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

Status MigrationOptions::CheckStop() const {
  if (stop == nullptr || !stop->load()) return {};
  return Status(Code::kInterrupted, "interrupted; run it again to go on from here");
}

}  // namespace braid::settlement::migration
