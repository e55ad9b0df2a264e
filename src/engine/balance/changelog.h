// The change log: what happened to shards and chunks, in config.changelog, as sh.status() reads it.
#pragma once

#include "engine/txn/context.h"

namespace braid::balance {

/// Best effort: a change that cannot be noted has happened all the same. Rows go after a week (TTL).
void NoteChange(txn::Context& context, std::string_view what, std::string_view ns, bson::View details);
/// A row of config.actionlog: {what: "balancer.round", details: {…}}.
void NoteRound(txn::Context& context, bson::View details);

}  // namespace braid::balance
