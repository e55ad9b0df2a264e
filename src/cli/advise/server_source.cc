// Documents and operations from a server.
#include <algorithm>
#include <chrono>
#include <thread>

#include "base/strings.h"
#include "cli/advise/source.h"
#include "client/handles.h"
#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "engine/bson/number.h"

namespace braid::advise {
namespace {

using bson::Type;
using bson::Value;
using bson::View;

constexpr auto kLook = std::chrono::milliseconds(50);  // how often a wait checks whether it has to end

// A document of ours as libmongoc wants it; a view.
class AsBsonT {
 public:
  explicit AsBsonT(const bson::Document& document) {
    bson_init_static(&bson_, reinterpret_cast<const uint8_t*>(document.bytes().data()), document.bytes().size());
  }
  const bson_t* get() const { return &bson_; }

 private:
  bson_t bson_;
};

Status ForEach(mongoc_cursor_t* cursor, const std::function<Status(View)>& visit) {
  const bson_t* document = nullptr;
  while (mongoc_cursor_next(cursor, &document)) BRAID_CHECK_OK(visit(ViewOf(document)));
  bson_error_t error{};
  if (mongoc_cursor_error(cursor, &error)) return client::FromError(error);
  return {};
}

std::string NamespaceOf(const Place& place) { return StrCat(place.database, ".", place.collection); }

// A server that does not know a command or a stage, and what to do instead.
Status Explain(const Status& status) {
  const bool unknown = status.code() == Code::kCommandNotFound || status.code() == Code::kCommandNotSupported ||
                       status.code() == Location(40324);
  if (!unknown) return status;
  return Status(Code::kCommandNotSupported, StrCat("this server cannot record operations (", status.message(),
                                                   "): list them in a file and give it with --queries FILE"));
}

Status Configure(const Client& client, const Place& place, const char* mode, const Recording& recording) {
  bson::Builder command;
  command.Append("configureQueryAnalyzer", NamespaceOf(place)).Append("mode", mode);
  if (recording.samples_per_second > 0) command.Append("samplesPerSecond", recording.samples_per_second);
  const bson::Document document = command.Finish();
  const auto reply = client::RunCommand(client.get(), "admin", AsBsonT(document).get());
  return reply.ok() ? Status() : Explain(reply.error());
}

}  // namespace

Result<Sample> FetchSample(Clients& clients, const Place& place, size_t most, const std::atomic<bool>& stop) {
  const Client client = clients.Acquire();
  const client::CollectionPtr collection = client::CollectionOf(client.get(), place.database, place.collection);
  bson_error_t error{};
  const int64_t total = mongoc_collection_estimated_document_count(collection.get(), nullptr, nullptr, nullptr, &error);
  if (total < 0) return client::FromError(error);
  Sample sample;
  bson::Builder pipeline;
  pipeline.OpenArray("pipeline");
  if (static_cast<uint64_t>(total) > most) {
    pipeline.OpenNextObject().OpenObject("$sample").Append("size", uint64_t{most}).Close().Close();
  }
  const bson::Document stages = pipeline.Close().Finish();
  const client::CursorPtr cursor(
      mongoc_collection_aggregate(collection.get(), MONGOC_QUERY_NONE, AsBsonT(stages).get(), nullptr, nullptr));
  BRAID_CHECK_OK(ForEach(cursor.get(), [&](View document) {
    if (stop.load()) return Status(Code::kInterrupted, "interrupted");
    sample.documents.emplace_back(document);
    return Status();
  }));
  sample.total = std::max<uint64_t>(static_cast<uint64_t>(total), sample.documents.size());
  return sample;
}

Result<std::vector<Operation>> FetchOperations(Clients& clients, const Place& place) {
  const Client client = clients.Acquire();
  const client::DatabasePtr admin(mongoc_client_get_database(client.get(), "admin"));
  bson::Builder pipeline;
  pipeline.OpenArray("pipeline").OpenNextObject().OpenObject("$listSampledQueries");
  const bson::Document stages = pipeline.Append("namespace", NamespaceOf(place)).Close().Close().Close().Finish();
  const client::CursorPtr cursor(mongoc_database_aggregate(admin.get(), AsBsonT(stages).get(), nullptr, nullptr));
  std::vector<Operation> all;
  const Status status = ForEach(cursor.get(), [&](View row) -> Status {
    BRAID_TRY(std::vector<Operation> operations, OperationsOfSample(row));
    std::move(operations.begin(), operations.end(), std::back_inserter(all));
    return {};
  });
  if (!status.ok()) return Explain(status);
  return all;
}

Status Record(Clients& clients, const Place& place, const Recording& recording, const std::atomic<bool>& stop) {
  const Client client = clients.Acquire();
  BRAID_CHECK_OK(Configure(client, place, "full", recording));
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(recording.seconds);
  while (!stop.load() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(kLook);
  return Configure(client, place, "off", {});
}

Result<std::vector<UniqueIndex>> FetchUniqueIndexes(Clients& clients, const Place& place) {
  const Client client = clients.Acquire();
  const client::CollectionPtr collection = client::CollectionOf(client.get(), place.database, place.collection);
  const client::CursorPtr cursor(mongoc_collection_find_indexes_with_opts(collection.get(), nullptr));
  std::vector<UniqueIndex> indexes;
  BRAID_CHECK_OK(ForEach(cursor.get(), [&](View index) {
    const Value key = index.Find("key");
    const Value name = index.Find("name");
    if (!bson::IsTruthy(index.Find("unique")) || !key.Is(Type::kObject) || !name.Is(Type::kString)) return Status();
    UniqueIndex& unique = indexes.emplace_back();
    unique.name = name.AsString();
    for (const bson::Element& field : key.AsView()) unique.fields.emplace_back(field.name);
    if (unique.fields.front() == "_id") indexes.pop_back();
    return Status();
  }));
  return indexes;
}

}  // namespace braid::advise
