// StateStore::Open(): creates the documents, and finds the head if others wrote before.
#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"
#include "services/settlement/migration/old_table.h"
#include "services/settlement/migration/state.h"

namespace braid::settlement::migration {

using client::Bson;

Result<std::unique_ptr<StateStore>> StateStore::Open(Clients& clients, const MigrationOptions& options) {
  BRAID_CHECK_OK(options.Validate());
  std::unique_ptr<StateStore> store(new StateStore(clients, options));
  BRAID_CHECK_OK(store->Create());
  return store;
}

Status StateStore::Create() {
  BRAID_CHECK_OK(CreateCollection(options_.state));
  BRAID_CHECK_OK(CreateCollection(options_.queue()));
  BRAID_CHECK_OK(CreateDocuments());
  BRAID_CHECK_OK(ChooseTable());
  BRAID_TRY(const State state, Load());
  // Creating it later would bring it back after the drop.
  if (state.phase == Phase::kNone) BRAID_CHECK_OK(CreateCollection(options_.old_table));
  if (!Mirrors(state.phase)) BRAID_CHECK_OK(CreateIndex());
  return AdoptHead();
}

Status StateStore::CreateCollection(const std::string& name) {
  const Client client = clients_.Acquire();
  Bson create;
  create.Text("create", name);
  const auto reply = client::RunCommand(client.get(), options_.database.c_str(), create.get());
  return reply.ok() || reply.error().code() == Code::kNamespaceExists ? Status() : reply.error();
}

// Ranges of sequences are read again and again.
Status StateStore::CreateIndex() {
  const std::string& sequence = options_.layout.sequence;
  if (sequence == "_id") return {};
  Bson key;
  key.Integer(sequence.c_str(), 1);
  Bson index;
  index.Document("key", key).Text("name", StrCat(sequence, "_1"));
  Bson indexes;
  indexes.Document("0", index);
  Bson command;
  command.Text("createIndexes", options_.old_table).Array("indexes", indexes);
  const Client client = clients_.Acquire();
  const auto reply = client::RunCommand(client.get(), options_.database.c_str(), command.get());
  if (reply.ok()) return {};
  // The field already has an index, such as a unique one.
  const Code code = reply.error().code();
  return code == Code::kIndexOptionsConflict || code == Code::kIndexKeySpecsConflict ? Status() : reply.error();
}

Status StateStore::CreateDocuments() {
  const std::string mirror = MirrorId();
  Bson at_zero;
  at_zero.Integer("seq", 0).Integer("outputs", 0);
  Bson no_migration;
  no_migration.Integer("seq", 0).Integer("outputs", 0).Integer("hash", 0).Integer("verified_seq", 0);
  no_migration.Text("phase", NameOf(Phase::kNone)).Text("log", options_.log).Text("old_table", options_.old_table);
  no_migration.Text("mapping", options_.layout.ToJson());
  no_migration.Text("why", "").Array("history", Bson());
  return InTransaction([&](Transaction& transaction) -> Status {
    for (const auto& [id, fields] : {std::pair(mirror.c_str(), &at_zero), std::pair(kMigrationId, &no_migration)}) {
      Bson filter;
      filter.Text("_id", id);
      Bson change;
      change.Document("$setOnInsert", *fields);
      const Transaction::Update update{.filter = filter.get(), .change = change.get(), .upsert = true};
      BRAID_CHECK_OK(transaction.UpdateOnes(options_.state, {&update, 1}));
    }
    return {};
  });
}

// As long as there is no output, the table's name may be corrected.
Status StateStore::ChooseTable() {
  Bson filter;
  filter.Text("_id", kMigrationId).Text("phase", NameOf(Phase::kNone)).Integer("seq", 0);
  Bson fields;
  fields.Text("old_table", options_.old_table).Text("mapping", options_.layout.ToJson());
  Bson change;
  change.Document("$set", fields);
  const Transaction::Update update{.filter = filter.get(), .change = change.get()};
  return InTransaction([&](Transaction& transaction) {
    return transaction.UpdateOnes(options_.state, {&update, 1}).status();
  });
}

// The outputs are counted outside of a transaction, which must not last as long as that may take. Outputs are only
// added at the end of the table, so the count is valid if the head has not moved.
Status StateStore::AdoptHead() {
  for (;;) {
    BRAID_TRY(const State state, Load());
    if (Mirrors(state.phase)) return {};
    BRAID_TRY(const std::optional<OldRecord> newest, NewestOld(clients_, options_.OldOnes()));
    if (!newest || newest->sequence <= state.seq) return {};
    BRAID_TRY(const int64_t more,
              CountOld(clients_, options_.OldOnes(), {.after = state.seq, .up_to = newest->sequence}));
    bool moved = false;
    BRAID_CHECK_OK(InTransaction([&](Transaction& transaction) -> Status {
      BRAID_TRY(const State now, LoadToChange(transaction));
      moved = now.seq == state.seq && !Mirrors(now.phase);
      if (!moved) return {};
      return MoveHead(transaction, now,
                      {.seq = newest->sequence, .hash = newest->hash, .outputs = state.outputs + more});
    }));
    if (moved) return {};
  }
}

}  // namespace braid::settlement::migration
