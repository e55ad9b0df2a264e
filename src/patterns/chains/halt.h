// Why a chain does not go on: it is broken and has to be repaired, or it awaits records that were held back (C4, C9).
#pragma once

#include "braid/chains.h"
#include "client/handles.h"

namespace braid::chains {

/// Records that one chain awaits at most; with one more it has to be repaired.
inline constexpr size_t kAwaitedMax = 1000;

/// Whether the chain does not accept a new record with this sequence. What comes before all awaited records is
/// accepted.
bool IsHaltedFor(const ChainHead& head, int64_t sequence);
/// kChainHalted: what has to happen before the chain accepts the record.
Status WhyHalted(const ChainHead& head);

/// Only a repair makes the chain go on.
void Break(ChainHead& head, std::string why);
/// Nothing after the record is accepted until it is appended; no change if the chain has passed it.
void Await(ChainHead& head, AwaitedRecord awaited);
/// After the head has moved: what was awaited and is passed now is not awaited any more.
void ForgetPassed(ChainHead& head);
/// The chain is not broken any more; what it awaits stays.
void Mend(ChainHead& head);

/// The field `halted` of a head's document, and its contents back.
void AppendHalt(const ChainHead& head, int64_t at_ms, client::Bson& fields);
void ReadHalt(const bson_t& document, ChainHead& head);

}  // namespace braid::chains
