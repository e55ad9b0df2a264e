// commitTransaction, abortTransaction.
#include "engine/commands/arg_reader.h"
#include "engine/commands/parts.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

Status CheckArguments(Call& call) {
  std::optional<bson::View> token;
  ArgReader reader(call.request);
  reader.Ignore({call.request.name});
  reader.Optional("recoveryToken", token);  // the outcome is known here without it
  BRAID_CHECK_OK(reader.Finish());
  if (call.session == nullptr) {
    return {Code::kInvalidOptions, "commitTransaction and abortTransaction need lsid, txnNumber and autocommit: false"};
  }
  return {};
}

Result<bson::Document> RunCommit(Call& call) {
  BRAID_CHECK_OK(CheckArguments(call));
  BRAID_CHECK_OK(call.engine.transactions.Commit(*call.session, call.txn_number));
  call.context.NotePosition((*call.session)->committed_at);
  return bson::Document();
}

Result<bson::Document> RunAbort(Call& call) {
  BRAID_CHECK_OK(CheckArguments(call));
  BRAID_CHECK_OK(call.engine.transactions.Abort(*call.session, call.txn_number));
  return bson::Document();
}

}  // namespace

constinit const Command kCommitTransaction = {.name = "commitTransaction",
                                              .flags = kWrites | kAdminOnly | kEndsTransaction,
                                              .help = "Makes a transaction's changes visible and durable.",
                                              .run = RunCommit};
constinit const Command kAbortTransaction = {.name = "abortTransaction",
                                             .flags = kWrites | kAdminOnly | kEndsTransaction,
                                             .help = "Gives a transaction up.",
                                             .run = RunAbort};
}  // namespace braid::commands
