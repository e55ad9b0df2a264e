// Verifying with progress, and the report as text and JSON.
#pragma once

#include "braid/chains.h"
#include "client/handles.h"

namespace braid::cli::settlement {

Result<VerifyReport> VerifyWithProgress(Chains& chains, VerifyOptions options);
/// damage: [{symbol_id, output_seq, what}] (F4).
void AppendTo(client::Bson& json, const std::vector<ChainDamage>& damage);
/// ok, symbols, records, payload_bytes, damaged, damage (F4).
void AppendTo(client::Bson& json, const VerifyReport& report);
/// To standard output.
void PrintText(const VerifyReport& report);
/// OK if nothing is damaged.
Status ToStatus(const VerifyReport& report);

}  // namespace braid::cli::settlement
