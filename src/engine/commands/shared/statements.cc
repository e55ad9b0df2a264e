// Parsing and running the statements of writes, and running those of retryable writes once.
#include "engine/commands/shared/statements.h"

#include "base/strings.h"
#include "engine/commands/parts.h"
#include "engine/commands/shared/common.h"
#include "engine/commands/shared/config_views.h"

namespace braid::commands {
namespace {

write::Writer WriterOf(Call& call) {
  return {call.context, call.engine.counters.write_conflicts, [&call] { return call.engine.cluster_clock.Now(); }};
}

Result<write::WriteAccess> OpenForWrite(Call& call, const catalog::Namespace& ns, bool create) {
  BRAID_CHECK_OK(CheckNoConfigView(ns));
  BRAID_CHECK_OK(CheckNotProfile(ns));
  return write::WriteAccess::Open(call.context, ns, create);
}

Result<query::Query> MakeQuery(const catalog::CollectionPtr& collection, bson::View q, bson::View sort,
                               const bson::Value& hint, bool multi,
                               const std::shared_ptr<const query::Environment>& environment) {
  query::Query query;
  query.collection = collection;
  query.environment = environment;
  query.for_change = true;
  BRAID_TRY(query.filter, query::Filter::Parse(q, environment));
  BRAID_TRY(query.sort, query::SortPattern::Parse(sort, environment->collation));
  if (!query.sort.empty() && !multi) query.limit = 1;
  BRAID_CHECK_OK(ReadHint(hint, &query));
  return query;
}

Status CheckRetryable(const Call& call, bool multi) {
  if (call.retry == nullptr || !multi) return {};
  return {Code::kInvalidOptions,
          "a retryable write cannot change many documents: multi and limit: 0 go without txnNumber"};
}

}  // namespace

Result<UpdateStatement> ParseUpdateStatement(bson::View statement, const std::optional<bson::View>& let) {
  UpdateStatement parsed;
  std::optional<bson::View> constants;
  ArgReader reader(statement, "update.updates");
  reader.Required("q", parsed.q);
  reader.Required("u", parsed.u);
  reader.Optional("c", constants);
  reader.Optional("multi", parsed.multi);
  reader.Optional("upsert", parsed.upsert);
  reader.Optional("arrayFilters", parsed.array_filters);
  reader.Optional("collation", parsed.collation);
  reader.Optional("hint", parsed.hint);
  reader.Ignore({"upsertSupplied", "sampleId"});
  BRAID_CHECK_OK(reader.Finish());
  if (!parsed.u.Is(bson::Type::kObject) && !parsed.u.Is(bson::Type::kArray)) {
    return Status(Code::kFailedToParse, "Update argument must be either an object or an array");
  }
  if (constants && !parsed.u.Is(bson::Type::kArray)) {
    return Status(Location(51198), "Constant values may only be specified for pipeline updates");
  }
  parsed.let = constants ? constants : let;
  return parsed;
}

Result<DeleteStatement> ParseDeleteStatement(bson::View statement, const std::optional<bson::View>& let) {
  DeleteStatement parsed;
  int64_t limit = 0;
  ArgReader reader(statement, "delete.deletes");
  reader.Required("q", parsed.q);
  reader.Required("limit", limit);
  reader.Optional("collation", parsed.collation);
  reader.Optional("hint", parsed.hint);
  reader.Ignore({"sampleId"});
  BRAID_CHECK_OK(reader.Finish());
  if (limit != 0 && limit != 1) {
    return Status(Code::kFailedToParse, StrCat("The limit field in delete objects must be 0 or 1. Got ", limit));
  }
  parsed.multi = limit == 0;
  parsed.let = let;
  return parsed;
}

Result<int64_t> InsertDocuments(Call& call, const catalog::Namespace& ns, std::span<const bson::View> documents,
                                const txn::WriteOptions& options,
                                const std::function<bool(size_t, const Status&)>& failed, int32_t first_statement) {
  BRAID_TRY(write::WriteAccess access, OpenForWrite(call, ns, true));
  write::Insertion insertion{.documents = documents, .options = options, .failed = failed};
  if (call.retry != nullptr) {
    const auto number = [first_statement](size_t position) { return first_statement + static_cast<int32_t>(position); };
    insertion.was_done = [&call, number](size_t position) { return call.retry->Find(number(position)) != nullptr; };
    insertion.done = [&call, number](size_t position) { call.retry->Note(number(position)); };
  }
  write::Writer writer = WriterOf(call);
  BRAID_TRY(const int64_t inserted, write::Insert(writer, access, insertion));
  call.engine.counters.documents_inserted.fetch_add(inserted, std::memory_order_relaxed);
  return inserted;
}

Result<UpdateResult> RunUpdate(Call& call, const catalog::Namespace& ns, const UpdateStatement& statement) {
  write::WriteAccess access;
  catalog::CollectionPtr collection;
  if (IsConfigView(ns)) {
    BRAID_TRY(collection, FindForRead(call, ns));
  } else {
    BRAID_TRY(access, OpenForWrite(call, ns, statement.upsert));
    collection = access.collection();
  }
  BRAID_TRY(auto environment, MakeEnvironment(call, collection, statement.collation, statement.let));
  const update::Update::Options options{statement.array_filters, statement.multi, statement.upsert};
  BRAID_TRY(auto update, update::Update::Parse(statement.u, options, environment));
  BRAID_TRY(query::Query query,
            MakeQuery(collection, statement.q, statement.sort, statement.hint, statement.multi, environment));
  if (collection == nullptr) return UpdateResult{};
  const write::Updating updating{.query = std::move(query),
                                 .update = *update,
                                 .multi = statement.multi,
                                 .upsert = statement.upsert,
                                 .options = statement.options,
                                 .seen = statement.seen,
                                 .done = statement.done};
  if (collection->rows != nullptr) return UpdateConfigView(call, updating);
  write::Writer writer = WriterOf(call);
  BRAID_TRY(UpdateResult result, write::Update(writer, access, updating));
  call.engine.counters.documents_updated.fetch_add(result.modified, std::memory_order_relaxed);
  return result;
}

Result<int64_t> RunDelete(Call& call, const catalog::Namespace& ns, const DeleteStatement& statement) {
  BRAID_TRY(write::WriteAccess access, OpenForWrite(call, ns, false));
  const catalog::CollectionPtr& collection = access.collection();
  BRAID_TRY(auto environment, MakeEnvironment(call, collection, statement.collation, statement.let));
  BRAID_TRY(query::Query query,
            MakeQuery(collection, statement.q, statement.sort, statement.hint, statement.multi, environment));
  if (collection == nullptr) return int64_t{0};
  write::Writer writer = WriterOf(call);
  BRAID_TRY(const int64_t removed,
            write::Delete(
                writer, access,
                {.query = std::move(query), .multi = statement.multi, .seen = statement.seen, .done = statement.done}));
  call.engine.counters.documents_deleted.fetch_add(removed, std::memory_order_relaxed);
  return removed;
}

Result<UpdateResult> RunRetryableUpdate(Call& call, const catalog::Namespace& ns, UpdateStatement statement,
                                        int32_t number) {
  if (call.retry == nullptr) return RunUpdate(call, ns, statement);
  BRAID_CHECK_OK(CheckRetryable(call, statement.multi));
  if (const bson::Document* done = call.retry->Find(number)) {
    UpdateResult result{done->Find("n").AsInt32(), done->Find("nModified").AsInt32(), std::nullopt};
    if (const bson::Value id = done->Find("upserted"); !id.missing()) result.upserted = bson::OwnedValue(id);
    return result;
  }
  statement.done = [&call, number](const UpdateResult& result) {
    bson::Builder note;
    note.Append("n", static_cast<int32_t>(result.matched)).Append("nModified", static_cast<int32_t>(result.modified));
    if (result.upserted) note.Append("upserted", *result.upserted);
    call.retry->Note(number, note.Finish());
  };
  return RunUpdate(call, ns, statement);
}

Result<int64_t> RunRetryableDelete(Call& call, const catalog::Namespace& ns, DeleteStatement statement,
                                   int32_t number) {
  if (call.retry == nullptr) return RunDelete(call, ns, statement);
  BRAID_CHECK_OK(CheckRetryable(call, statement.multi));
  if (call.retry->Find(number) != nullptr) return int64_t{1};
  statement.done = [&call, number] { call.retry->Note(number); };
  return RunDelete(call, ns, statement);
}

bool StatementLoop::Note(int32_t index, const Status& status) {
  if (status.ok()) return true;
  if (write::EndsCommand(status.code())) {
    ending_ = status;
    return false;
  }
  AppendWriteError(errors_, index, status);
  any_ = true;
  return !ordered_;
}

Status StatementLoop::Finish(bson::Builder& reply) {
  if (any_) reply.AppendArray("writeErrors", errors_.Finish());
  return ending_;
}

}  // namespace braid::commands
