// The change log of shards and chunks, in config.changelog, as sh.status() reads it.
#pragma once

#include "engine/txn/context.h"

namespace braid::balance {

/// Best effort: a row that cannot be written does not undo the change. Rows are removed after a week (TTL).
void NoteChange(txn::Context& context, std::string_view what, std::string_view ns, bson::View details);
/// A row of config.actionlog: {what: "balancer.round", details: {…}}.
void NoteRound(txn::Context& context, bson::View details);

}  // namespace braid::balance
