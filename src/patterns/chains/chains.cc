#include "braid/chains.h"

#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"
#include "patterns/chains/hash.h"
#include "patterns/chains/log.h"
#include "patterns/chains/parts.h"

namespace braid {

using client::Bson;

namespace {

// A tree over fewer records than the chain has means that a program version without trees has appended: it is ignored.
std::optional<ChainTree> TreeOf(const bson_t& document, int64_t records) {
  if (client::IntegerOf(&document, "tree.records") != records) return std::nullopt;
  return ChainTree::FromPeaks(records, client::BinaryOf(&document, "tree.peaks"));
}

}  // namespace

Status ChainsOptions::Validate() const {
  if (database.empty() || log.empty()) return Status(Code::kBadValue, "chains need a database and a collection");
  if (lease_ttl.count() < 1) return Status(Code::kBadValue, "lease_ttl must be at least 1 ms");
  if (compression_level < -50 || compression_level > 19) {
    return Status(Code::kBadValue, StrCat("compression_level is ", compression_level, ", not in -50..19"));
  }
  return {};
}

Chains::Chains(std::unique_ptr<chains::Parts> parts) : parts_(std::move(parts)) {}
Chains::~Chains() = default;
const ChainsOptions& Chains::options() const { return parts_->options; }
Clients& Chains::clients() const { return parts_->clients; }

Result<std::unique_ptr<Chains>> Chains::Open(Clients& clients, const ChainsOptions& options) {
  BRAID_CHECK_OK(options.Validate());
  auto parts = std::make_unique<chains::Parts>(clients, options);
  BRAID_CHECK_OK(options.create ? parts->CreateCollections() : parts->ExpectLog());
  return std::unique_ptr<Chains>(new Chains(std::move(parts)));
}

Result<std::vector<ChainHead>> Chains::Heads() {
  BRAID_TRY(std::vector<ChainHead> heads, parts_->LoadHeads({}));
  std::erase_if(heads, [](const ChainHead& head) { return head.sequence == 0 && head.halted.empty(); });
  return heads;
}

chains::ChainState& chains::Parts::StateOf(int64_t chain) {
  const MutexLock lock(mu);
  auto& state = states[chain];
  if (state == nullptr) state = std::make_unique<chains::ChainState>();
  return *state;
}

Status chains::Parts::ExpectLog() {
  const std::string names[] = {options.log, heads};
  Bson in;
  in.Texts("$in", names);
  Bson filter;
  filter.Document("name", in);
  Bson opts;
  opts.Document("filter", filter);
  const Client client = clients.Acquire();
  const client::DatabasePtr database(mongoc_client_get_database(client.get(), options.database.c_str()));
  bson_error_t error{};
  char** const found = mongoc_database_get_collection_names_with_opts(database.get(), opts.get(), &error);
  if (found == nullptr) return client::FromError(error);
  const bool any = found[0] != nullptr;
  bson_strfreev(found);
  if (any) return {};
  return Status(Code::kNamespaceNotFound,
                StrCat("there is no log ", options.log, " in the database ", options.database));
}

// Before any transaction: not every store creates collections inside one.
Status chains::Parts::CreateCollections() {
  const Client client = clients.Acquire();
  for (const std::string* name : {&options.log, &heads, &leases, &repairs, &tree}) {
    Bson create;
    create.Text("create", *name);
    const auto reply = client::RunCommand(client.get(), options.database.c_str(), create.get());
    if (!reply.ok() && reply.error().code() != Code::kNamespaceExists) return reply.error();
  }
  Bson key;
  key.Integer("symbol_id", 1).Integer("last_seq", 1);
  Bson index;
  index.Document("key", key).Text("name", "symbol_id_1_last_seq_1");
  Bson indexes;
  indexes.Document("0", index);
  Bson command;
  command.Text("createIndexes", options.log).Array("indexes", indexes);
  return client::RunCommand(client.get(), options.database.c_str(), command.get()).status();
}

Result<std::vector<ChainHead>> chains::Parts::LoadHeads(std::span<const int64_t> numbers) {
  Bson filter;
  if (!numbers.empty()) {
    Bson ids;
    for (size_t i = 0; i < numbers.size(); ++i) ids.Integer(StrCat(i).c_str(), numbers[i]);
    Bson in;
    in.Array("$in", ids);
    filter.Document("_id", in);
  }
  Bson sort;
  sort.Integer("_id", 1);
  std::vector<ChainHead> loaded;
  BRAID_CHECK_OK(RunTransaction(clients, {.database = options.database}, [&](Transaction& transaction) {
    loaded.clear();
    return transaction.Find(heads, filter.get(), {.sort = sort.get()}, [&](const bson_t& document) {
      loaded.push_back(HeadOrHalted(document));
      return Status();
    });
  }));
  return loaded;
}

Status chains::Parts::CreateHead(int64_t chain) {
  bool has_records = false;
  {
    const Client client = clients.Acquire();
    BRAID_CHECK_OK(FindSegments(client.get(), options, {.chain = chain, .limit = 1}, [&](const bson_t&) {
      has_records = true;
      return Status();
    }));
  }
  Bson filter;
  filter.Integer("_id", chain);
  Bson fields;
  fields.Integer("seq", 0).Binary("hash", chains::TextOf(chains::kGenesis)).Integer("records", 0).Integer("epoch", 0);
  if (has_records) {  // otherwise another process may have inserted a head by now, and nothing is inserted
    Bson halted;
    halted.Date("at", clock.NowMillis()).Text("why", "the head was lost: it has to be taken from the log");
    fields.Document("halted", halted);
  }
  Bson change;
  change.Document("$setOnInsert", fields);
  const Transaction::Update update{.filter = filter.get(), .change = change.get(), .upsert = true};
  return RunTransaction(clients, {.database = options.database}, [&](Transaction& transaction) {
    return transaction.UpdateOnes(heads, {&update, 1}).status();
  });
}

Result<ChainHead> chains::HeadOf(const bson_t& document) {
  ChainHead head;
  const std::pair<const char*, int64_t*> integers[] = {
      {"_id", &head.chain}, {"seq", &head.sequence}, {"records", &head.records}, {"epoch", &head.epoch}};
  for (const auto& [name, value] : integers) {
    bson_iter_t field;
    if (!bson_iter_init_find(&field, &document, name) || !BSON_ITER_HOLDS_INT64(&field)) {
      return Status(Code::kRecordDamaged, StrCat("the head is damaged: ", name, " is not an integer"));
    }
    *value = bson_iter_int64(&field);
  }
  const std::string_view hash = client::BinaryOf(&document, "hash");
  if (hash.size() != head.hash.size()) {
    return Status(Code::kRecordDamaged, "the head is damaged: hash is not 32 bytes");
  }
  std::copy(hash.begin(), hash.end(), head.hash.begin());
  head.tree = TreeOf(document, head.records);
  ReadHalt(document, head);
  return head;
}

void chains::AppendTree(const ChainHead& head, client::Bson& fields) {
  if (!head.tree) return;
  Bson tree;
  tree.Integer("records", head.tree->records()).Binary("peaks", head.tree->Peaks());
  fields.Document("tree", tree);
}

ChainHead chains::HeadOrHalted(const bson_t& document) {
  auto head = HeadOf(document);
  if (head.ok()) return *std::move(head);
  return {.chain = client::IntegerOf(&document, "_id"), .halted = std::string(head.error().message()), .broken = true};
}

void chains::AppendHeadCondition(const ChainHead& head, client::Bson& filter) {
  filter.Integer("_id", head.chain).Integer("seq", head.sequence).Binary("hash", TextOf(head.hash));
  filter.Integer("epoch", head.epoch);
  // The filter includes whether the head has a tree: a chain that was given a tree must not continue without it, and a
  // tree is invalid once a program without trees has appended.
  Bson stale;
  if (!head.tree) filter.Document("tree.records", stale.Integer("$ne", head.records));
  if (head.tree && head.records > 0) filter.Integer("tree.records", head.records);
  if (head.halted.empty()) {
    BSON_APPEND_NULL(filter.get(), "halted");
    return;
  }
  filter.Text("halted.why", head.halted);
  head.halt_changes > 0 ? void(filter.Integer("halted.changes", head.halt_changes))
                        : void(BSON_APPEND_NULL(filter.get(), "halted.changes"));
}

}  // namespace braid
