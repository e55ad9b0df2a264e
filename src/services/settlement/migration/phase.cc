#include "services/settlement/migration/phase.h"

#include <algorithm>
#include <iterator>

#include "base/strings.h"

namespace braid::settlement::migration {
namespace {

constexpr std::string_view kNames[] = {"none",      "preflight", "dual_write", "backfill", "verify",     "verified",
                                       "switching", "switched",  "dropping",   "dropped",  "rolled_back"};

}  // namespace

std::string_view NameOf(Phase phase) { return kNames[static_cast<size_t>(phase)]; }

Result<Phase> PhaseOf(std::string_view name) {
  const auto found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return Status(Code::kRecordDamaged, StrCat("unknown phase of migration: ", name));
  return static_cast<Phase>(found - std::begin(kNames));
}

}  // namespace braid::settlement::migration
