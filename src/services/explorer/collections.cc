#include "services/explorer/collections.h"

#include <fmt/format.h>

#include <charconv>

#include "base/strings.h"
#include "client/fields.h"
#include "services/schema/schema.h"

namespace braid::explorer {
namespace {

using schema::CollectionSpec;

// No validators: only the explorer writes here, and it checks every field first. A pop finds its documents by {epoch:
// 1}.
std::vector<CollectionSpec> MakeCollections() {
  const auto on_shard_of = [](const char* name, const char* field) {
    const std::string key = StrCat(R"({")", field, R"(": "hashed"})");
    return CollectionSpec{.name = name, .indexes = {{.keys = key}, {.keys = R"({"epoch": 1})"}}, .shard_key = key};
  };
  std::vector<CollectionSpec> specs;
  specs.push_back(on_shard_of(kBlocks, "_id"));
  specs.push_back(on_shard_of(kTransactions, "_id"));
  specs.back().indexes.push_back({.keys = R"({"score": 1})"});
  specs.push_back(on_shard_of(kReceipts, "transaction"));
  specs.push_back(on_shard_of(kBlockTransactions, "block"));
  specs.push_back(on_shard_of(kBlocksInOrder, "_id"));
  specs.push_back(on_shard_of(kAccountTransactions, "_id.owner"));
  specs.push_back(on_shard_of(kMinerBlocks, "_id.owner"));
  specs.push_back(on_shard_of(kMiners, "_id"));
  specs.push_back({.name = StrCat(kTimeline, "_head")});
  specs.push_back({.name = StrCat(kTimeline, "_epochs"),
                   .indexes = {{.keys = R"({"_id": "hashed"})"}, {.keys = R"({"hash": 1})"}},
                   .shard_key = R"({"_id": "hashed"})"});
  specs.push_back({.name = StrCat(kTimeline, "_reorgs")});
  return specs;
}

}  // namespace

void OwnedId::AppendTo(bson_t* document, std::string_view key) const {
  const std::string digits = fmt::format("{:012}", score);
  bson_t id;
  bson_append_document_begin(document, key.data(), static_cast<int>(key.size()), &id);
  BSON_APPEND_UTF8(&id, "owner", owner.c_str());
  BSON_APPEND_UTF8(&id, "score", digits.c_str());
  bson_append_document_end(document, &id);
}

std::string OwnedId::ToText() const { return fmt::format("{}:{:012}", owner, score); }

std::optional<OwnedId> OwnedIdOf(const bson_t& document) {
  const std::string_view digits = client::TextOf(&document, "_id.score");
  OwnedId id{.owner = std::string(client::TextOf(&document, "_id.owner"))};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id.score);
  if (id.owner.empty() || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return id;
}

std::string RowsId(std::string_view block, int64_t number) { return fmt::format("{}:{:06}", block, number); }

std::vector<std::string> EpochCollections() {
  return {kBlocks,        kTransactions,        kReceipts,    kBlockTransactions,
          kBlocksInOrder, kAccountTransactions, kMinerBlocks, kMiners};
}

std::span<const CollectionSpec> Collections() {
  static const std::vector<CollectionSpec> collections = MakeCollections();
  return collections;
}

Status EnsureCollections(Clients& clients, const std::string& database) {
  return schema::Apply(clients, database, Collections()).status();
}

}  // namespace braid::explorer
