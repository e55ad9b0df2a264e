// Statements of retryable writes: done once, however often they are sent.
#include "engine/bson/builder.h"
#include "engine/commands/crud/change.h"

namespace braid::commands {

Status CheckRetryable(const Call& call, bool multi) {
  if (call.retry == nullptr || !multi) return {};
  return {Code::kInvalidOptions,
          "a retryable write cannot change many documents: multi and limit: 0 go without txnNumber"};
}

Result<UpdateOutcome> RunUpdateOnce(Call& call, const catalog::Namespace& ns, UpdateStatement statement,
                                    int32_t number) {
  if (call.retry == nullptr) return RunUpdate(call, ns, statement);
  BRAID_CHECK_OK(CheckRetryable(call, statement.multi));
  if (const bson::Document* done = call.retry->Find(number)) {
    UpdateOutcome outcome{done->Find("n").AsInt32(), done->Find("nModified").AsInt32(), std::nullopt};
    if (const bson::Value id = done->Find("upserted"); !id.missing()) outcome.upserted = bson::OwnedValue(id);
    return outcome;
  }
  statement.done = [&call, number](const UpdateOutcome& outcome) {
    bson::Builder result;
    result.Append("n", static_cast<int32_t>(outcome.matched))
        .Append("nModified", static_cast<int32_t>(outcome.modified));
    if (outcome.upserted) result.Append("upserted", *outcome.upserted);
    call.retry->Note(number, result.Finish());
  };
  return RunUpdate(call, ns, statement);
}

Result<int64_t> RunDeleteOnce(Call& call, const catalog::Namespace& ns, DeleteStatement statement, int32_t number) {
  if (call.retry == nullptr) return RunDelete(call, ns, statement);
  BRAID_CHECK_OK(CheckRetryable(call, statement.multi));
  if (call.retry->Find(number) != nullptr) return int64_t{1};
  statement.done = [&call, number] { call.retry->Note(number); };
  return RunDelete(call, ns, statement);
}

}  // namespace braid::commands
