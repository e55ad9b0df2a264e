#include "services/settlement/views/generation.h"

#include <algorithm>

#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"
#include "services/settlement/views/marks.h"

namespace braid::settlement::views {

using client::Bson;

namespace {

constexpr int64_t kRowsWithTimes = 2;  // the layout of rows

// The fields that people look for; what is found by _id needs none.
std::vector<const char*> IndexOf(View view) {
  switch (view) {
    case View::kBalances: return {"user_id"};
    case View::kTrades: return {"symbol_id", "seq"};
    case View::kOrders: return {"user_id", "seq"};
  }
  return {};
}

Status Create(mongoc_client_t* client, const std::string& database, const std::string& collection) {
  Bson create;
  create.Text("create", collection);
  const auto reply = client::RunCommand(client, database.c_str(), create.get());
  return reply.ok() || reply.error().code() == Code::kNamespaceExists ? Status() : reply.error();
}

std::vector<std::string> TextsOf(const bson_t& document, const char* field) {
  std::vector<std::string> texts;
  bson_iter_t array;
  bson_iter_t element;
  if (!bson_iter_init_find(&array, &document, field) || !bson_iter_recurse(&array, &element)) return texts;
  while (bson_iter_next(&element)) {
    if (BSON_ITER_HOLDS_UTF8(&element)) texts.emplace_back(bson_iter_utf8(&element, nullptr));
  }
  return texts;
}

}  // namespace

std::string NewCollectionName(View view, int64_t generation) {
  bson_oid_t unique;
  bson_oid_init(&unique, nullptr);
  char text[25];
  bson_oid_to_string(&unique, text);
  return StrCat(NameOf(view), "_g", generation, "_", text);
}

Result<std::optional<Generation>> FindGeneration(Transaction& transaction, View view) {
  std::optional<Generation> found;
  const std::string id = NameOf(view);
  BRAID_CHECK_OK(transaction.FindIds(kMarks, {&id, 1}, [&](const bson_t& document) {
    found = {.number = client::IntegerOf(&document, "generation"),
             .collection = std::string(client::TextOf(&document, "collection")),
             .last = client::IntegerOf(&document, "last"),
             .building = client::IntegerOf(&document, "building"),
             .next = std::string(client::TextOf(&document, "next")),
             .moving = std::string(client::TextOf(&document, "moving")),
             .dead = TextsOf(document, "dead"),
             .has_times = client::IntegerOf(&document, "rows") >= kRowsWithTimes,
             .stuck = std::string(client::TextOf(&document, "stuck"))};
    return Status();
  }));
  return found;
}

Result<Generation> GetGeneration(Transaction& transaction, View view) {
  BRAID_TRY(std::optional<Generation> found, FindGeneration(transaction, view));
  if (!found) return Status(Code::kNamespaceNotFound, StrCat("there is no view ", NameOf(view)));
  return *std::move(found);
}

Result<Generation> LoadGeneration(Clients& clients, const std::string& database, View view) {
  Generation loaded;
  BRAID_CHECK_OK(RunTransaction(clients, {.database = database}, [&](Transaction& transaction) -> Status {
    BRAID_TRY(loaded, GetGeneration(transaction, view));
    return {};
  }));
  return loaded;
}

Status StoreGeneration(Transaction& transaction, View view, const Generation& generation, bool is_new) {
  Bson fields;
  fields.Integer("generation", generation.number)
      .Text("collection", generation.collection)
      .Integer("last", generation.last)
      .Integer("building", generation.building)
      .Text("next", generation.next)
      .Text("moving", generation.moving)
      .Texts("dead", generation.dead)
      .Integer("rows", generation.has_times ? kRowsWithTimes : 1)
      .Text("stuck", generation.stuck);
  if (is_new) {
    Bson document;
    document.Text("_id", NameOf(view));
    bson_concat(document.get(), fields.get());
    const bson_t* const insert = document.get();
    return transaction.Insert(kMarks, {&insert, 1});
  }
  Bson filter;
  filter.Text("_id", NameOf(view));
  Bson change;
  change.Document("$set", fields);
  const Transaction::Update update{.filter = filter.get(), .change = change.get()};
  return transaction.UpdateOnes(kMarks, {&update, 1}).status();
}

// Before any transaction: not every store creates collections inside one.
Status CreateCollection(Clients& clients, const std::string& database, View view, const std::string& collection) {
  const Client client = clients.Acquire();
  BRAID_CHECK_OK(Create(client.get(), database, kMarks));
  BRAID_CHECK_OK(Create(client.get(), database, collection));
  Bson key;
  std::string name;
  for (const char* const field : IndexOf(view)) {
    key.Integer(field, 1);
    name += StrCat(name.empty() ? "" : "_", field, "_1");
  }
  Bson index;
  index.Document("key", key).Text("name", name);
  Bson indexes;
  indexes.Document("0", index);
  Bson command;
  command.Text("createIndexes", collection).Array("indexes", indexes);
  return client::RunCommand(client.get(), database.c_str(), command.get()).status();
}

Status CreateView(Clients& clients, const std::string& database, View view) {
  bool exists = false;
  const auto look = [&](Transaction& transaction) -> Status {
    BRAID_TRY(const std::optional<Generation> found, FindGeneration(transaction, view));
    exists = found.has_value();
    return {};
  };
  BRAID_CHECK_OK(RunTransaction(clients, {.database = database}, look));
  if (exists) return {};
  const Generation first{.number = 1, .collection = NameOf(view), .last = 1, .has_times = true};
  BRAID_CHECK_OK(CreateCollection(clients, database, view, first.collection));
  const Status created = RunTransaction(clients, {.database = database}, [&](Transaction& transaction) -> Status {
    BRAID_CHECK_OK(look(transaction));
    if (exists) return {};
    BRAID_CHECK_OK(StoreGeneration(transaction, view, first, true));
    return Marks::Create(transaction, first.collection);
  });
  return created.code() == Code::kDuplicateKey ? Status() : created;  // another process was faster
}

// The new name is given only once: a second rename, by a slower process, finds nothing to rename.
Status FinishMove(Clients& clients, const std::string& database, View view) {
  BRAID_TRY(const Generation now, LoadGeneration(clients, database, view));
  if (now.moving.empty()) return {};
  {
    Bson rename;
    rename.Text("renameCollection", StrCat(database, ".", now.moving))
        .Text("to", StrCat(database, ".", now.collection))
        .Bool("dropTarget", true);
    const Client client = clients.Acquire();
    const auto reply = client::RunCommand(client.get(), "admin", rename.get());
    if (!reply.ok() && reply.error().code() != Code::kNamespaceNotFound) return reply.error();
  }
  return RunTransaction(clients, {.database = database}, [&](Transaction& transaction) -> Status {
    BRAID_TRY(Generation generation, GetGeneration(transaction, view));
    if (generation.moving != now.moving) return {};
    generation.moving.clear();
    BRAID_CHECK_OK(Marks::Settle(transaction, generation.collection));
    return StoreGeneration(transaction, view, generation, false);
  });
}

Status DropDead(Clients& clients, const std::string& database, View view) {
  BRAID_TRY(const Generation now, LoadGeneration(clients, database, view));
  if (now.dead.empty()) return {};
  {
    const Client client = clients.Acquire();
    for (const std::string& collection : now.dead) {
      BRAID_CHECK_OK(client::DropCollection(client.get(), database, collection));
    }
  }
  return RunTransaction(clients, {.database = database}, [&](Transaction& transaction) -> Status {
    BRAID_TRY(Generation generation, GetGeneration(transaction, view));
    std::erase_if(generation.dead, [&](const std::string& name) {
      return std::find(now.dead.begin(), now.dead.end(), name) != now.dead.end();
    });
    return StoreGeneration(transaction, view, generation, false);
  });
}

}  // namespace braid::settlement::views
