// RetryLog: which statements of a retryable write are done already, and the notes that make them known to a retry.
#pragma once

#include "engine/commands/transactions.h"

namespace braid::commands {

/// One request with a txnNumber outside a transaction. Results are stored in the commit of their statement.
class RetryLog {
 public:
  RetryLog(Transactions::Checkout& session, txn::Context& context);

  /// The result of the statement's first run; null if it was not run.
  const bson::Document* Find(int32_t statement);
  /// Notes that the statement is done; must be called before the commit of its changes.
  void Note(int32_t statement, bson::Document result = {});

  /// retriedStmtIds: […] if there were any.
  void AppendTo(bson::Builder& reply) const;
  size_t retried() const { return retried_.size(); }

 private:
  Transactions::Checkout& session_;
  std::vector<int32_t> retried_;
};

}  // namespace braid::commands
