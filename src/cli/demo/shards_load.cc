// The load of the shards: a new one comes, and now and then a chunk moves to another shard.
#include <algorithm>

#include "base/strings.h"
#include "cli/demo/loads.h"
#include "client/fields.h"
#include "client/handles.h"

namespace braid::cli::demo {
namespace {

constexpr const char* kShards = "shards";
constexpr const char* kNewShard = "newcomer";
constexpr const char* kMoved = "shop.products";  // small, whatever the demo has sold
constexpr int64_t kMoveSteps = 3;

struct ChunkPlace {
  client::BsonPtr bounds;  // {bounds: [min, max]}
  std::string shard;
};

class ShardsLoad final : public Load {
 public:
  ShardsLoad(const Setting& setting, Figures figures) : setting_(setting), figures_(std::move(figures)) {}

  // The demo runs with its initial shards for a while before it gets one more.
  Status Step() override {
    const int64_t step = steps_++;
    if (step == 0) return {};
    if (figures_["added"] == 0) return AddShard();
    return step % kMoveSteps == 0 ? MoveChunk() : Status();
  }

 private:
  Result<client::BsonPtr> Run(const bson_t* command) {
    return client::RunCommand(setting_.clients.Acquire().get(), "admin", command);
  }

  Status AddShard() {
    BRAID_TRY(std::vector<std::string> shards, ShardNames());
    if (std::ranges::find(shards, kNewShard) == shards.end()) {
      client::Bson command;
      command.Text("addShard", "local").Text("name", kNewShard);
      BRAID_CHECK_OK(Run(command.get()));
      BRAID_CHECK_OK(setting_.journal.Note(
          kShards,
          StrCat("shard ", kNewShard, " added: the balancer moves a share of every sharded collection there")));
    }
    figures_["added"] = 1;
    return setting_.journal.Write(kShards, figures_);
  }

  // By turns, to the shard with the fewest chunks.
  Status MoveChunk() {
    BRAID_CHECK_OK(TakeFromBalancer());
    BRAID_TRY(const std::vector<std::string> shards, ShardNames());
    BRAID_TRY(const std::vector<ChunkPlace> chunks, Chunks());
    if (shards.size() < 2 || chunks.empty()) return {};
    const ChunkPlace& chunk = chunks[static_cast<size_t>(figures_["moves"]) % chunks.size()];
    const auto rank = [&](const std::string& shard) {
      return std::pair(shard == chunk.shard, std::ranges::count(chunks, shard, &ChunkPlace::shard));
    };
    const std::string& to = *std::ranges::min_element(shards, {}, rank);
    client::Bson command;
    command.Text("moveChunk", kMoved);
    bson_concat(command.get(), chunk.bounds.get());
    command.Text("to", to);
    BRAID_TRY(const client::BsonPtr reply, Run(command.get()));
    ++figures_["moves"];
    const int64_t documents = client::IntegerOf(reply.get(), "documentsMoved");
    BRAID_CHECK_OK(
        setting_.journal.Note(kShards, StrCat("a chunk of ", kMoved, " moved from ", chunk.shard, " to ", to, ": ",
                                              documents, documents == 1 ? " document" : " documents")));
    return setting_.journal.Write(kShards, figures_);
  }

  // Otherwise the balancer would even out each move with smaller chunks, and there would be ever more of them.
  Status TakeFromBalancer() {
    client::Bson filter;
    filter.Text("_id", kMoved);
    client::Bson off;
    off.Bool("noBalance", true);
    client::Bson change;
    change.Document("$set", off);
    const Client client = setting_.clients.Acquire();
    const client::CollectionPtr collections = client::CollectionOf(client.get(), "config", "collections");
    bson_error_t error{};
    const bool ok =
        mongoc_collection_update_one(collections.get(), filter.get(), change.get(), nullptr, nullptr, &error);
    return ok ? Status() : client::FromError(error);
  }

  // Calls `each` for every document of a collection of the database `config` that matches.
  template <typename Each>
  Status EachOfConfig(const char* collection, const bson_t* filter, const Each& each) {
    const Client client = setting_.clients.Acquire();
    const client::CollectionPtr handle = client::CollectionOf(client.get(), "config", collection);
    const client::CursorPtr cursor(mongoc_collection_find_with_opts(handle.get(), filter, nullptr, nullptr));
    const bson_t* document = nullptr;
    while (mongoc_cursor_next(cursor.get(), &document)) each(*document);
    bson_error_t error{};
    return mongoc_cursor_error(cursor.get(), &error) ? client::FromError(error) : Status();
  }

  Result<std::vector<std::string>> ShardNames() {
    std::vector<std::string> names;
    BRAID_CHECK_OK(EachOfConfig("shards", client::Bson().get(),
                                [&](const bson_t& shard) { names.emplace_back(client::TextOf(&shard, "_id")); }));
    return names;
  }

  Result<std::vector<ChunkPlace>> Chunks() {
    client::Bson by_name;
    by_name.Text("_id", kMoved);
    client::Bson by_collection;
    BRAID_CHECK_OK(EachOfConfig("collections", by_name.get(), [&](const bson_t& collection) {
      bson_iter_t uuid;
      if (bson_iter_init_find(&uuid, &collection, "uuid")) bson_append_iter(by_collection.get(), nullptr, 0, &uuid);
    }));
    std::vector<ChunkPlace> chunks;
    if (bson_empty(by_collection.get())) return chunks;
    BRAID_CHECK_OK(EachOfConfig("chunks", by_collection.get(), [&](const bson_t& chunk) {
      client::Bson bounds;
      bson_iter_t bound;
      if (bson_iter_init_find(&bound, &chunk, "min")) bson_append_iter(bounds.get(), "0", 1, &bound);
      if (bson_iter_init_find(&bound, &chunk, "max")) bson_append_iter(bounds.get(), "1", 1, &bound);
      client::Bson place;
      place.Array("bounds", bounds);
      chunks.push_back({client::BsonPtr(bson_copy(place.get())), std::string(client::TextOf(&chunk, "shard"))});
    }));
    return chunks;
  }

  const Setting setting_;
  Figures figures_;
  int64_t steps_ = 0;
};

}  // namespace

Result<std::unique_ptr<Load>> OpenShards(const Setting& setting) {
  BRAID_TRY(Figures figures, setting.journal.Read(kShards));
  return std::unique_ptr<Load>(std::make_unique<ShardsLoad>(setting, std::move(figures)));
}

}  // namespace braid::cli::demo
