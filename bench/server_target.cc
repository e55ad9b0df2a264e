// The workload's operations as a driver sends them.
#include "base/strings.h"
#include "bench/target.h"
#include "braid/clients.h"
#include "client/fields.h"
#include "client/handles.h"

namespace braid::bench {
namespace {

using client::Bson;
using client::FromError;

void AppendKey(bson_t* document, const char* name, std::string_view key) {
  bson_append_utf8(document, name, -1, key.data(), static_cast<int>(key.size()));
}

// {name: {field: value}} at the end of the document.
void AppendInt32In(bson_t* document, const char* name, const char* field, int32_t value) {
  bson_t inside;
  BSON_APPEND_DOCUMENT_BEGIN(document, name, &inside);
  BSON_APPEND_INT32(&inside, field, value);
  bson_append_document_end(document, &inside);
}

// The filter of scatter queries.
void AppendNumbers(bson_t* document, uint64_t number) {
  BSON_APPEND_INT64(document, "number", static_cast<int64_t>(number));
  BSON_APPEND_INT64(document, "group", static_cast<int64_t>(number / kGroupRecords));
}

constexpr int64_t kFew = 5;  // the limit of a query that is merged

class ServerSession final : public Session {
 public:
  ServerSession(Client client, const ServerTarget& server)
      : client_(std::move(client)),
        collection_(client::CollectionOf(client_.get(), server.database, server.collection)),
        sharded_(server.sharded) {
    const client::WriteConcernPtr concern(mongoc_write_concern_new());
    mongoc_write_concern_set_w(concern.get(), 1);
    mongoc_write_concern_set_journal(concern.get(), server.durable);
    mongoc_collection_set_write_concern(collection_.get(), concern.get());
    BSON_APPEND_INT64(one_.get(), "limit", 1);
    BSON_APPEND_BOOL(one_.get(), "singleBatch", true);
    BSON_APPEND_BOOL(trusted_.get(), "validate", false);
    BSON_APPEND_INT64(few_.get(), "limit", kFew);
    BSON_APPEND_BOOL(few_.get(), "singleBatch", true);
    AppendInt32In(few_.get(), "sort", "number", -1);
  }

  Status Read(std::string_view key) override {
    SetFilter(key);
    BRAID_TRY(const int found, Drain(one_.get()));
    return found == 1 ? Status() : Status(Code::kInternalError, StrCat("record ", key, " is missing"));
  }

  Status Update(std::string_view key, int field, const FieldValue& value) override {
    SetFilter(key);
    change_.Clear();
    bson_t set;
    BSON_APPEND_DOCUMENT_BEGIN(change_.get(), "$set", &set);
    BSON_APPEND_BINARY(&set, kFieldNames[field].data(), BSON_SUBTYPE_BINARY,
                       reinterpret_cast<const uint8_t*>(value.bytes), kFieldBytes);
    bson_append_document_end(change_.get(), &set);
    bson_error_t error{};
    if (mongoc_collection_update_one(collection_.get(), filter_.get(), change_.get(), trusted_.get(), nullptr,
                                     &error)) {
      return {};
    }
    return FromError(error);
  }

  Status InsertBatch(const std::vector<Insert>& records) override {
    while (documents_.size() < records.size()) {
      documents_.push_back(std::make_unique<Bson>());
      pointers_.push_back(documents_.back()->get());
    }
    for (size_t i = 0; i < records.size(); ++i) {
      documents_[i]->Clear();
      AppendRecord(documents_[i]->get(), Key(records[i].number).view(), records[i].record);
      if (sharded_) AppendNumbers(documents_[i]->get(), records[i].number);
    }
    bson_error_t error{};
    const bool ok = records.size() == 1
                        ? mongoc_collection_insert_one(collection_.get(), pointers_[0], trusted_.get(), nullptr, &error)
                        : mongoc_collection_insert_many(collection_.get(), pointers_.data(), records.size(),
                                                        trusted_.get(), nullptr, &error);
    return ok ? Status() : FromError(error);
  }

  Status Scan(std::string_view start, int count) override {
    filter_.Clear();
    bson_t range;
    BSON_APPEND_DOCUMENT_BEGIN(filter_.get(), "_id", &range);
    AppendKey(&range, "$gte", start);
    bson_append_document_end(filter_.get(), &range);
    scan_.Clear();
    BSON_APPEND_INT64(scan_.get(), "limit", count);
    AppendInt32In(scan_.get(), "sort", "_id", 1);
    return Drain(scan_.get()).status();
  }

  Status Merge(uint64_t group) override {
    SetFilter("group", group);
    BRAID_TRY(const int found, Drain(few_.get()));
    return found >= 1 ? Status() : Status(Code::kInternalError, StrCat("group ", group, " is missing"));
  }

  Status Search(uint64_t number) override {
    SetFilter("number", number);
    BRAID_TRY(const int found, Drain(nullptr));
    return found == 1 ? Status() : Status(Code::kInternalError, StrCat("record number ", number, " is missing"));
  }

 private:
  void SetFilter(std::string_view key) {
    filter_.Clear();
    AppendKey(filter_.get(), "_id", key);
  }

  void SetFilter(const char* name, uint64_t value) {
    filter_.Clear();
    BSON_APPEND_INT64(filter_.get(), name, static_cast<int64_t>(value));
  }

  // How many documents the filter finds; each is looked at.
  Result<int> Drain(const bson_t* options) {
    const client::CursorPtr cursor(
        mongoc_collection_find_with_opts(collection_.get(), filter_.get(), options, nullptr));
    const bson_t* document = nullptr;
    int found = 0;
    while (mongoc_cursor_next(cursor.get(), &document)) found += document->len > 0;
    bson_error_t error{};
    if (mongoc_cursor_error(cursor.get(), &error)) return FromError(error);
    return found;
  }

  Client client_;
  client::CollectionPtr collection_;
  const bool sharded_;
  Bson one_;      // options of a point read
  Bson few_;      // options of a query that is merged
  Bson trusted_;  // options of a write: the documents need no check
  Bson filter_;
  Bson change_;
  Bson scan_;
  std::vector<std::unique_ptr<Bson>> documents_;
  std::vector<const bson_t*> pointers_;
};

std::optional<int64_t> Number(const bson_t* document, const char* path) {
  bson_iter_t top;
  bson_iter_t found;
  if (!bson_iter_init(&top, document) || !bson_iter_find_descendant(&top, path, &found)) return std::nullopt;
  if (!BSON_ITER_HOLDS_NUMBER(&found)) return std::nullopt;
  return bson_iter_as_int64(&found);
}

class Server final : public Target {
 public:
  Server(std::unique_ptr<Clients> clients, const ServerTarget& server)
      : clients_(std::move(clients)), server_(server) {}

  Result<std::unique_ptr<Session>> Connect() override {
    Client client = clients_->Acquire();
    Bson ping;  // opens the connection, so that the run does not pay for it
    BSON_APPEND_INT32(ping.get(), "ping", 1);
    BRAID_CHECK_OK(client::RunCommand(client.get(), "admin", ping.get()));
    return std::make_unique<ServerSession>(std::move(client), server_);
  }
  Status Reset() override {
    const Client client = clients_->Acquire();
    BRAID_CHECK_OK(client::DropCollection(client.get(), server_.database, server_.collection));
    return server_.sharded ? Shard(client) : Status();
  }
  Result<Usage> ReadUsage() override {
    Bson command;
    BSON_APPEND_INT32(command.get(), "serverStatus", 1);
    BRAID_TRY(const client::BsonPtr reply, client::RunCommand(clients_->Acquire().get(), "admin", command.get()));
    Usage usage;
    const auto user = Number(reply.get(), "extra_info.user_time_us");
    const auto system = Number(reply.get(), "extra_info.system_time_us");
    if (user && system) usage.cpu_micros = *user + *system;
    usage.resident_mb = Number(reply.get(), "mem.resident");
    usage.syncs = Number(reply.get(), "rocksdb.syncs");
    return usage;
  }

 private:
  Status Shard(const Client& client) const {
    const std::string ns = StrCat(server_.database, ".", server_.collection);
    const client::BsonPtr shard(BCON_NEW("shardCollection", ns.c_str(), "key", "{", "_id", "hashed", "}"));
    BRAID_CHECK_OK(client::RunCommand(client.get(), "admin", shard.get()));
    const client::BsonPtr index(BCON_NEW("createIndexes", server_.collection.c_str(), "indexes", "[", "{", "name",
                                         "group", "key", "{", "group", BCON_INT32(1), "number", BCON_INT32(1), "}", "}",
                                         "]"));
    return client::RunCommand(client.get(), server_.database.c_str(), index.get()).status();
  }

  std::unique_ptr<Clients> clients_;
  const ServerTarget server_;
};

}  // namespace

Result<std::unique_ptr<Target>> ConnectTo(const ServerTarget& server) {
  // One connection more than the sessions, for serverStatus while they are all in use.
  BRAID_TRY(std::unique_ptr<Clients> clients, Clients::Connect(server.uri, server.sessions_max + 1));
  return std::make_unique<Server>(std::move(clients), server);
}

}  // namespace braid::bench
