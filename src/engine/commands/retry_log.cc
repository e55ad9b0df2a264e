#include "engine/commands/retry_log.h"

namespace braid::commands {

RetryLog::RetryLog(Transactions::Checkout& session, txn::Context& context) : session_(session) {
  context.BeforeCommit([this, &context](storage::WriteSet& writes) {
    if (!session_->done.empty()) Transactions::Store(writes, session_.lsid(), *session_, context.now_millis());
  });
}

const bson::Document* RetryLog::Find(int32_t statement) {
  const bson::Document* result = session_->done.Find(statement);
  if (result != nullptr) retried_.push_back(statement);
  return result;
}

void RetryLog::Note(int32_t statement, bson::Document result) { session_->done.Add(statement, std::move(result)); }

void RetryLog::AppendTo(bson::Builder& reply) const {
  if (retried_.empty()) return;
  reply.OpenArray("retriedStmtIds");
  for (const int32_t statement : retried_) reply.AppendNext(statement);
  reply.Close();
}

}  // namespace braid::commands
