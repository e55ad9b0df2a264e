#include "engine/commands/retry_log.h"

namespace braid::commands {

RetryLog::RetryLog(Transactions::Checkout& session, txn::Context& context) : session_(session) {
  context.BeforeCommit([this, &context](storage::WriteSet& writes) {
    if (!session_->done.empty()) Transactions::Store(writes, session_.lsid(), *session_, context.now_millis());
  });
}

const bson::Document* RetryLog::Find(int32_t statement) {
  for (const DoneStatements& done : session_->done) {
    if (statement < done.first || statement >= done.first + done.count) continue;
    retried_.push_back(statement);
    return &done.result;
  }
  return nullptr;
}

void RetryLog::Note(int32_t statement, bson::Document result) {
  auto& done = session_->done;
  if (result.empty() && !done.empty() && done.back().result.empty() &&
      done.back().first + done.back().count == statement) {
    ++done.back().count;
    return;
  }
  done.push_back({statement, 1, std::move(result)});
}

void RetryLog::AppendTo(bson::Builder& reply) const {
  if (retried_.empty()) return;
  reply.OpenArray("retriedStmtIds");
  for (const int32_t statement : retried_) reply.AppendNext(statement);
  reply.Close();
}

}  // namespace braid::commands
