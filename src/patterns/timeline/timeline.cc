// Timeline: its options, its collections and its list of reorganisations.
#include "braid/timeline.h"

#include <algorithm>
#include <set>

#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"
#include "patterns/timeline/state.h"

namespace braid {
namespace {

using client::Bson;

Status CheckRange(const char* field, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return {};
  return Status(Code::kBadValue, StrCat(field, " is ", value, "; it must be ", least, " to ", most));
}

bool IsCollectionName(const std::string& name) {
  return !name.empty() && name.find_first_of(std::string_view(".$\0", 3)) == std::string::npos;
}

// Before any transaction: not every store creates collections inside one.
Status CreateCollection(mongoc_client_t* client, const std::string& database, const std::string& name) {
  Bson create;
  create.Text("create", name);
  const auto reply = client::RunCommand(client, database.c_str(), create.get());
  return reply.status().code() == Code::kNamespaceExists ? Status() : reply.status();
}

Status CreateIndex(mongoc_client_t* client, const std::string& database, const std::string& name, const char* field) {
  Bson key;
  key.Integer(field, 1);
  Bson index;
  index.Document("key", key).Text("name", StrCat(field, "_1"));
  Bson indexes;
  indexes.Document("0", index);
  Bson command;
  command.Text("createIndexes", name).Array("indexes", indexes);
  return client::RunCommand(client, database.c_str(), command.get()).status();
}

Status CreateCollections(Clients& clients, const TimelineOptions& options) {
  const Client client = clients.Acquire();
  BRAID_CHECK_OK(CreateCollection(client.get(), options.database, timeline::HeadsOf(options)));
  BRAID_CHECK_OK(CreateCollection(client.get(), options.database, timeline::ReorganisationsOf(options)));
  BRAID_CHECK_OK(CreateIndex(client.get(), options.database, timeline::EpochsOf(options), "hash"));
  for (const std::string& collection : options.collections) {
    BRAID_CHECK_OK(CreateIndex(client.get(), options.database, collection, "epoch"));
  }
  return {};
}

// If the head was lost, a new chain is not started on top of the existing documents.
Status CreateHead(Transaction& transaction, const TimelineOptions& options) {
  const auto stored = timeline::ReadHead(transaction, options);
  if (stored.ok() || stored.error().code() != Code::kRecordDamaged) return stored.status();
  int64_t epochs = 0;
  const Bson all;
  BRAID_CHECK_OK(transaction.Find(timeline::EpochsOf(options), all.get(), {.limit = 1}, [&](const bson_t&) {
    ++epochs;
    return Status();
  }));
  if (epochs > 0) {
    return Status(Code::kRecordDamaged, StrCat(options.database, ".", timeline::HeadsOf(options),
                                               ": the document 'head' is missing, but there are epochs"));
  }
  Bson head;
  head.Text("_id", "head");
  const bson_t* const heads[] = {head.get()};
  BRAID_CHECK_OK(transaction.Insert(timeline::HeadsOf(options), heads));
  return timeline::WriteHead(transaction, options, timeline::Head());
}

Reorganisation ReorganisationFrom(const bson_t& record) {
  return {.time_ms = client::IntegerOf(&record, "_id"),
          .depth = client::IntegerOf(&record, "depth"),
          .fork = client::IntegerOf(&record, "fork"),
          .old_number = client::IntegerOf(&record, "old_number"),
          .old_hash = std::string(client::TextOf(&record, "old_hash")),
          .new_number = client::IntegerOf(&record, "new_number"),
          .new_hash = std::string(client::TextOf(&record, "new_hash"))};
}

}  // namespace

Status TimelineOptions::Validate() const {
  if (database.empty()) return Status(Code::kBadValue, "a timeline needs a database");
  if (!IsCollectionName(name)) {
    return Status(Code::kBadValue,
                  StrCat("'", name, "' cannot be the name of a timeline: it begins collections' names"));
  }
  std::set<std::string> taken = {timeline::HeadsOf(*this), timeline::EpochsOf(*this),
                                 timeline::ReorganisationsOf(*this)};
  if (collections.empty()) return Status(Code::kBadValue, "a timeline needs at least one collection");
  for (const std::string& collection : collections) {
    if (!IsCollectionName(collection) || !taken.insert(collection).second) {
      return Status(
          Code::kBadValue,
          StrCat("'", collection, "' cannot be a collection of a timeline: names have no '.' and no '$', are ",
                 "given once, and those of the timeline itself are taken"));
    }
  }
  BRAID_CHECK_OK(CheckRange("history_epochs", history_epochs, 1, INT64_MAX / 2));
  BRAID_CHECK_OK(CheckRange("transaction_documents_max", transaction_documents_max, 1, 1'000'000));
  return CheckRange("transaction_bytes_max", transaction_bytes_max, int64_t{1} << 20, int64_t{128} << 20);
}

Result<std::unique_ptr<Timeline>> Timeline::Open(Clients& clients, const TimelineOptions& options) {
  BRAID_CHECK_OK(options.Validate());
  BRAID_CHECK_OK(CreateCollections(clients, options));
  const TransactionOptions how{.database = options.database, .stop = options.stop};
  const Status created =
      RunTransaction(clients, how, [&](Transaction& transaction) { return CreateHead(transaction, options); });
  if (!created.ok() && created.code() != Code::kDuplicateKey) return created;  // another process may have been faster
  return std::unique_ptr<Timeline>(new Timeline(clients, options));
}

Result<std::vector<Reorganisation>> Timeline::Reorganisations(int64_t limit, int64_t before_ms) {
  std::vector<Reorganisation> found;
  if (limit <= 0) return found;
  Bson filter;
  Bson before;
  if (before_ms > 0) filter.Document("_id", before.Integer("$lt", before_ms));
  Bson newest_first;
  newest_first.Integer("_id", -1);
  const TransactionOptions how{.database = options_.database, .stop = options_.stop};
  BRAID_CHECK_OK(RunTransaction(clients_, how, [&](Transaction& transaction) {
    found.clear();
    const Transaction::FindOptions options{.sort = newest_first.get(), .limit = limit};
    return transaction.Find(timeline::ReorganisationsOf(options_), filter.get(), options, [&](const bson_t& record) {
      found.push_back(ReorganisationFrom(record));
      return Status();
    });
  }));
  return found;
}

}  // namespace braid
