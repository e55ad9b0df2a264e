// The answers of the settlement log as JSON (F4), the same on the command line and over HTTP.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "client/handles.h"
#include "services/settlement/checkpoints.h"
#include "services/settlement/output.h"
#include "services/settlement/service.h"

namespace braid::settlement {

/// What a log is now, beside its chains.
struct RefusedNow {
  int64_t kept = 0;                    ///< outputs that were refused
  std::vector<UnplacedLine> unplaced;  ///< those of them that hold back everything
};
Result<RefusedNow> ReadRefused(Clients& clients, const ChainsOptions& log);

/// records, output_seq, halted, refused, unplaced and symbols: each chain as it is now.
void AppendHeads(const std::vector<ChainHead>& heads, const std::vector<LeaseInfo>& leases, const RefusedNow& refused,
                 client::Bson& json);
void AppendUnplaced(const std::vector<UnplacedLine>& lines, client::Bson& json);

/// A record with the fields of C1, on one line. kRecordDamaged if its payload is no output.
Result<std::string> RecordLine(OutputParser& parser, const ChainRecordView& record);

void AppendDamage(const std::vector<ChainDamage>& damage, client::Bson& json);
void AppendVerification(const VerifyReport& report, client::Bson& json);
void AppendCheckpoints(const std::vector<StoredCheckpoint>& list, client::Bson& json);
/// How many of each outcome.
void AppendTotals(const Totals& totals, client::Bson& json);

}  // namespace braid::settlement
