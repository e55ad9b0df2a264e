#include "braid/transaction.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "base/assert.h"
#include "base/backoff.h"
#include "base/random.h"
#include "client/fields.h"
#include "client/handles.h"

namespace braid {

using client::Bson;
using client::BulkPtr;
using client::CollectionOf;
using client::CollectionPtr;
using client::CursorPtr;
using client::FromError;

void Transaction::AppendSession(bson_t* opts) const {
  bson_error_t error{};
  BRAID_ASSERT(mongoc_client_session_append(session_, opts, &error));
}

Status Transaction::Failed(const bson_t& reply, const bson_error_t& error) {
  failure_ = Document(&reply);
  return FromError(error);
}

Status Transaction::Find(const std::string& collection, const Document& filter, const FindOptions& options,
                         const OnDocument& each) {
  Bson opts;
  AppendSession(opts.get());
  if (!options.sort.empty()) opts.Document("sort", options.sort);
  if (!options.projection.empty()) opts.Document("projection", options.projection);
  if (options.limit > 0) opts.Integer("limit", options.limit);
  if (!options.hint.empty()) opts.Document("hint", options.hint);
  BSON_APPEND_INT32(opts.get(), "batchSize", 100'000);  // the size of a message ends a batch long before
  const CollectionPtr handle = CollectionOf(client_, database_, collection);
  const CursorPtr cursor(mongoc_collection_find_with_opts(handle.get(), filter.get(), opts.get(), nullptr));
  const bson_t* document = nullptr;
  while (mongoc_cursor_next(cursor.get(), &document)) BRAID_CHECK_OK(each(Document::View(*document)));
  bson_error_t error{};
  const bson_t* reply = nullptr;
  if (mongoc_cursor_error_document(cursor.get(), &error, &reply)) return Failed(*reply, error);
  return {};
}

Status Transaction::FindIds(const std::string& collection, std::span<const std::string> ids, const OnDocument& each) {
  if (ids.empty()) return {};
  Bson filter;
  Bson by_id;
  by_id.Texts("$in", ids);
  filter.Document("_id", by_id);
  return Find(collection, filter, each);
}

Result<std::optional<Document>> Transaction::FindOne(const std::string& collection, const Document& filter) {
  std::optional<Document> found;
  BRAID_CHECK_OK(Find(collection, filter, {.limit = 1}, [&](const Document& document) {
    found = document;
    return Status();
  }));
  return found;
}

Result<int64_t> Transaction::Count(const std::string& collection, const Document& filter) {
  Bson opts;
  AppendSession(opts.get());
  const CollectionPtr handle = CollectionOf(client_, database_, collection);
  bson_error_t error{};
  Bson reply;
  const int64_t count =
      mongoc_collection_count_documents(handle.get(), filter.get(), opts.get(), nullptr, reply.get(), &error);
  if (count < 0) return Failed(*reply.get(), error);
  return count;
}

Status Transaction::Insert(const std::string& collection, const Document& document) {
  return Insert(collection, {&document, 1});
}

Status Transaction::Insert(const std::string& collection, std::span<const Document> documents) {
  std::vector<const bson_t*> pointers;
  pointers.reserve(documents.size());
  for (const Document& document : documents) pointers.push_back(document.get());
  return Insert(collection, pointers);
}

Status Transaction::Insert(const std::string& collection, std::span<const bson_t* const> documents) {
  if (documents.empty()) return {};
  Bson opts;
  AppendSession(opts.get());
  opts.Bool("validate", false);  // the server does
  const CollectionPtr handle = CollectionOf(client_, database_, collection);
  bson_error_t error{};
  Bson reply;
  const bool ok = mongoc_collection_insert_many(handle.get(), const_cast<const bson_t**>(documents.data()),
                                                documents.size(), opts.get(), reply.get(), &error);
  return ok ? Status() : Failed(*reply.get(), error);
}

Result<Transaction::Matched> Transaction::UpdateOnes(const std::string& collection, std::span<const Update> updates) {
  if (updates.empty()) return Matched();
  Bson opts;
  AppendSession(opts.get());
  const CollectionPtr handle = CollectionOf(client_, database_, collection);
  const BulkPtr bulk(mongoc_collection_create_bulk_operation_with_opts(handle.get(), opts.get()));
  Bson plain;
  plain.Bool("validate", false);  // the server does
  Bson upserting;
  upserting.Bool("validate", false).Bool("upsert", true);
  bson_error_t error{};
  for (const Update& update : updates) {
    const bson_t* how = update.upsert ? upserting.get() : plain.get();
    if (!mongoc_bulk_operation_update_one_with_opts(bulk.get(), update.filter.get(), update.change.get(), how,
                                                    &error)) {
      return FromError(error);
    }
  }
  Bson reply;
  if (mongoc_bulk_operation_execute(bulk.get(), reply.get(), &error) == 0) return Failed(*reply.get(), error);
  return Matched{.matched = client::IntegerOf(reply.get(), "nMatched"),
                 .modified = client::IntegerOf(reply.get(), "nModified"),
                 .upserted = client::IntegerOf(reply.get(), "nUpserted")};
}

Status Transaction::Remove(const std::string& collection, const Document& filter) {
  Bson opts;
  AppendSession(opts.get());
  const CollectionPtr handle = CollectionOf(client_, database_, collection);
  bson_error_t error{};
  Bson reply;
  const bool ok = mongoc_collection_delete_many(handle.get(), filter.get(), opts.get(), reply.get(), &error);
  return ok ? Status() : Failed(*reply.get(), error);
}

// libmongoc runs the loop of commits and retries; this is its callback, and the state that outlasts one run of the
// body.
class TransactionRunner {
 public:
  TransactionRunner(mongoc_client_t* client, const TransactionOptions& options,
                    const std::function<Status(Transaction&)>& body)
      : client_(client), options_(options), body_(body) {}

  Status Run() {
    bson_error_t error{};
    const client::SessionPtr session(mongoc_client_start_session(client_, nullptr, &error));
    if (session == nullptr) return FromError(error);
    const client::ReadConcernPtr reads(mongoc_read_concern_new());
    mongoc_read_concern_set_level(reads.get(), MONGOC_READ_CONCERN_LEVEL_SNAPSHOT);
    const client::WriteConcernPtr writes(mongoc_write_concern_new());
    mongoc_write_concern_set_w(writes.get(), MONGOC_WRITE_CONCERN_W_MAJORITY);
    const client::TransactionOptsPtr opts(mongoc_transaction_opts_new());
    mongoc_transaction_opts_set_read_concern(opts.get(), reads.get());
    mongoc_transaction_opts_set_write_concern(opts.get(), writes.get());
    const bool ok = mongoc_client_session_with_transaction(session.get(), RunBody, opts.get(), this, nullptr, &error);
    if (ok) return {};
    return body_status_.ok() ? FromError(error) : body_status_;
  }

 private:
  static bool RunBody(mongoc_client_session_t* session, void* self, bson_t** reply, bson_error_t* error) {
    return static_cast<TransactionRunner*>(self)->RunOnce(session, reply, error);
  }

  bool RunOnce(mongoc_client_session_t* session, bson_t** reply, bson_error_t* error) {
    if (runs_ > 0 && !BackOff()) return false;
    ++runs_;
    Transaction transaction(client_, session, options_.database);
    body_status_ = body_(transaction);
    if (body_status_.ok()) return true;
    if (transaction.failure_) *reply = bson_copy(transaction.failure_->get());
    bson_set_error(error, MONGOC_ERROR_SERVER, static_cast<uint32_t>(body_status_.code()), "%s",
                   std::string(body_status_.message()).c_str());
    return false;
  }

  // Waits for a random part of a time that doubles up to half a second, so that two transactions that conflicted do not
  // meet again. False if asked to stop.
  bool BackOff() {
    if (options_.stop != nullptr && options_.stop->load()) return false;
    if (options_.retries != nullptr) options_.retries->fetch_add(1, std::memory_order_relaxed);
    if (!random_) random_.emplace(RandomSeed());
    const std::chrono::microseconds most = backoff_.Next();
    std::this_thread::sleep_for(std::chrono::microseconds(random_->Below(static_cast<uint64_t>(most.count()))));
    return true;
  }

  mongoc_client_t* client_;
  const TransactionOptions& options_;
  const std::function<Status(Transaction&)>& body_;
  std::optional<Random> random_;  // made on first use: a seed is not cheap, and most transactions never wait
  Backoff backoff_{std::chrono::milliseconds(1), std::chrono::milliseconds(500)};
  Status body_status_;
  int runs_ = 0;
};

Status RunTransaction(Clients& clients, const TransactionOptions& options,
                      const std::function<Status(Transaction&)>& body) {
  const Client client = clients.Acquire();
  return TransactionRunner(client.get(), options, body).Run();
}

}  // namespace braid
