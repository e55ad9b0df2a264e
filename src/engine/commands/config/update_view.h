// Changes of config.collections that MongoDB's shell makes: sh.disableBalancing and sh.enableBalancing set noBalance.
#pragma once

#include "engine/commands/crud/change.h"

namespace braid::commands {

/// Applies the update to the rows that match; kCommandNotSupportedOnView for a change of anything but noBalance.
Result<UpdateOutcome> UpdateConfigView(Call& call, const query::Query& query, const update::Update& update,
                                       const UpdateStatement& statement);

}  // namespace braid::commands
