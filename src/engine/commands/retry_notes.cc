// RetryNotes, and RetryLog (transactions.h), through which a request uses them.
#include "engine/commands/retry_notes.h"

#include "base/strings.h"
#include "engine/commands/transactions.h"
#include "engine/storage/keys.h"

namespace braid::commands {
namespace {
constexpr size_t kResultInRecordMax = 256;  // the record is written again for every statement
}

const bson::Document* RetryNotes::Find(int32_t statement) const {
  auto at = runs_.upper_bound(statement);
  if (at == runs_.begin()) return nullptr;
  const auto& [first, run] = *--at;
  return statement - first < run.count ? &run.result : nullptr;
}

void RetryNotes::Add(int32_t statement, bson::Document result) {
  if (auto at = runs_.upper_bound(statement); at != runs_.begin()) {
    auto& [first, run] = *--at;
    if (first + run.count == statement && run.result.bytes() == result.bytes()) {
      ++run.count;
      if (changed_.empty() || changed_.back() != first) changed_.push_back(first);
      return;
    }
  }
  if (runs_.empty() && result.bytes().size() <= kResultInRecordMax) in_record_ = statement;
  runs_.emplace(statement, Run{1, std::move(result)});
  changed_.push_back(statement);
}

void RetryNotes::Append(const Run& run, bson::Builder& note) {
  note.Append("count", run.count);
  if (!run.result.empty()) note.Append("result", run.result);
}

Result<RetryNotes::Run> RetryNotes::Parse(bson::View note, std::string_view lsid) {
  const bson::Value count = note.Find("count");
  if (!count.Is(bson::Type::kInt32)) {
    return Status(Code::kStorageCorrupt, StrCat("a note of session ", Hex(lsid), " is damaged"));
  }
  Run run{count.AsInt32(), {}};
  if (const bson::Value result = note.Find("result"); result.Is(bson::Type::kObject)) {
    run.result = bson::Document(result.AsView());
  }
  return run;
}

void RetryNotes::Store(storage::WriteSet& writes, std::string_view lsid, int64_t number, bson::Builder& record) {
  for (const std::string& key : obsolete_) writes.Delete(key);
  obsolete_.clear();
  if (in_record_) {
    record.Append("first", *in_record_);
    Append(runs_.at(*in_record_), record);
  }
  for (const int32_t first : changed_) {
    if (first == in_record_) continue;
    bson::Builder note;
    Append(runs_.at(first), note);
    writes.Put(storage::StatementsKey(lsid, number, first), note.Finish().bytes());
  }
  changed_.clear();
}

Status RetryNotes::Load(const storage::Store& store, std::string_view lsid, int64_t number, bson::View record) {
  runs_.clear();
  changed_.clear();
  in_record_.reset();
  if (const bson::Value first = record.Find("first"); first.Is(bson::Type::kInt32)) {
    BRAID_TRY(Run run, Parse(record, lsid));
    in_record_ = first.AsInt32();
    runs_.emplace(*in_record_, std::move(run));
  }
  const auto cursor = store.NewCursor(storage::StatementsRange(lsid, number), {});
  for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
    BRAID_TRY(Run run, Parse(bson::View(cursor->value()), lsid));
    runs_.emplace(storage::FirstStatementOf(cursor->key()), std::move(run));
  }
  return cursor->status();
}

void RetryNotes::Forget(std::string_view lsid, int64_t number) {
  for (const auto& [first, run] : runs_) {
    if (first != in_record_) obsolete_.push_back(storage::StatementsKey(lsid, number, first));
  }
  runs_.clear();
  changed_.clear();
  in_record_.reset();
}

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
