// Why a chain is halted: it is broken and has to be repaired, or it awaits records that were held back (C4, C9).
#pragma once

#include "braid/chains.h"
#include "client/handles.h"

namespace braid::chains {

/// The most records that one chain can await; with one more it has to be repaired.
inline constexpr size_t kAwaitedMax = 1000;

/// Whether the chain refuses a new record with this sequence. Records before all awaited ones are accepted.
bool IsHaltedFor(const ChainHead& head, int64_t sequence);
/// kChainHalted: what has to happen before the chain accepts the record.
Status WhyHalted(const ChainHead& head);

/// Marks the chain as broken: only a repair ends the halt.
void Break(ChainHead& head, std::string why);
/// Makes the chain await the record: nothing after it is accepted until it is appended. No change if the head is past
/// it.
void Await(ChainHead& head, AwaitedRecord awaited);
/// Called after the head has moved: removes the awaited records that the head has reached.
void ForgetPassed(ChainHead& head);
/// The chain is no longer broken; it still awaits the same records.
void Mend(ChainHead& head);

/// The field `halted` of a head's document, and its contents back.
void AppendHalt(const ChainHead& head, int64_t at_ms, client::Bson& fields);
void ReadHalt(const bson_t& document, ChainHead& head);

}  // namespace braid::chains
