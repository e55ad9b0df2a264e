#include "cli/demo/journal.h"

#include "braid/clock.h"
#include "client/handles.h"

namespace braid::cli::demo {
namespace {

constexpr const char* kDatabase = "demo";
constexpr const char* kStatus = "status";
constexpr const char* kEvents = "events";
constexpr const char* kEventIndex =
    R"({"createIndexes": "events", "indexes": [{"key": {"at": 1}, "name": "at_1", "expireAfterSeconds": 3600}]})";

}  // namespace

Result<std::unique_ptr<Journal>> Journal::Open(Clients& clients, OnEvent on_event) {
  BRAID_TRY(const client::BsonPtr command, client::ParseJson(kEventIndex));
  BRAID_CHECK_OK(client::RunCommand(clients.Acquire().get(), kDatabase, command.get()));
  return std::unique_ptr<Journal>(new Journal(clients, std::move(on_event)));
}

Result<Figures> Journal::Read(const std::string& load) {
  client::Bson filter;
  filter.Text("_id", load);
  const Client client = clients_.Acquire();
  const client::CollectionPtr status = client::CollectionOf(client.get(), kDatabase, kStatus);
  const client::CursorPtr cursor(mongoc_collection_find_with_opts(status.get(), filter.get(), nullptr, nullptr));
  Figures figures;
  const bson_t* document = nullptr;
  bson_iter_t field;
  if (mongoc_cursor_next(cursor.get(), &document) && bson_iter_init(&field, document)) {
    while (bson_iter_next(&field)) {
      if (BSON_ITER_HOLDS_INT64(&field)) figures[bson_iter_key(&field)] = bson_iter_int64(&field);
    }
  }
  bson_error_t error{};
  if (mongoc_cursor_error(cursor.get(), &error)) return client::FromError(error);
  return figures;
}

Status Journal::Write(const std::string& load, const Figures& figures, const Texts& texts) {
  client::Bson filter;
  filter.Text("_id", load);
  client::Bson document;
  document.Text("_id", load).Date("at", Clock::System().NowMillis());
  for (const auto& [name, figure] : figures) document.Integer(name.c_str(), figure);
  for (const auto& [name, text] : texts) document.Text(name.c_str(), text);
  client::Bson options;
  options.Bool("upsert", true);
  const Client client = clients_.Acquire();
  const client::CollectionPtr status = client::CollectionOf(client.get(), kDatabase, kStatus);
  bson_error_t error{};
  const bool ok =
      mongoc_collection_replace_one(status.get(), filter.get(), document.get(), options.get(), nullptr, &error);
  return ok ? Status() : client::FromError(error);
}

Status Journal::Note(const std::string& load, const std::string& text) {
  client::Bson document;
  document.Date("at", Clock::System().NowMillis()).Text("load", load).Text("text", text);
  const Client client = clients_.Acquire();
  const client::CollectionPtr events = client::CollectionOf(client.get(), kDatabase, kEvents);
  bson_error_t error{};
  if (!mongoc_collection_insert_one(events.get(), document.get(), nullptr, nullptr, &error)) {
    return client::FromError(error);
  }
  if (on_event_) on_event_(text);
  return {};
}

}  // namespace braid::cli::demo
