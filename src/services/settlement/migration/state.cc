#include "services/settlement/migration/state.h"

#include <algorithm>
#include <iterator>

#include "base/strings.h"
#include "client/command.h"
#include "client/fields.h"
#include "services/settlement/migration/old_table.h"

namespace braid::settlement::migration {
namespace {

using client::Bson;

constexpr std::string_view kNames[] = {"none",      "preflight", "dual_write", "backfill", "verify",     "verified",
                                       "switching", "switched",  "dropping",   "dropped",  "rolled_back"};
constexpr const char* kMigration = "migration";
constexpr const char* kMirror = "mirror";

Result<Phase> PhaseOf(std::string_view name) {
  const auto found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return Status(Code::kRecordDamaged, StrCat("unknown phase of migration: ", name));
  return static_cast<Phase>(found - std::begin(kNames));
}

Status ReadMigration(const bson_t& document, State& state) {
  BRAID_TRY(state.phase, PhaseOf(client::TextOf(&document, "phase")));
  state.seq = client::IntegerOf(&document, "seq");
  state.hash = client::IntegerOf(&document, "hash");
  state.outputs = client::IntegerOf(&document, "outputs");
  state.verified_seq = client::IntegerOf(&document, "verified_seq");
  state.why = client::TextOf(&document, "why");
  bson_iter_t history;
  bson_iter_t element;
  if (!bson_iter_init_find(&history, &document, "history") || !bson_iter_recurse(&history, &element)) return {};
  while (bson_iter_next(&element)) {
    const uint8_t* bytes = nullptr;
    uint32_t size = 0;
    if (!BSON_ITER_HOLDS_DOCUMENT(&element)) continue;
    bson_iter_document(&element, &size, &bytes);
    bson_t change;
    if (!bson_init_static(&change, bytes, size)) continue;
    state.history.push_back({std::string(client::TextOf(&change, "phase")), client::DateOf(&change, "at").value_or(0),
                             std::string(client::TextOf(&change, "why"))});
  }
  return {};
}

}  // namespace

std::string_view NameOf(Phase phase) { return kNames[static_cast<size_t>(phase)]; }

Status MigrationOptions::Validate() const {
  if (database.empty() || log.empty() || old_table.empty() || state.empty()) {
    return Status(Code::kBadValue, "a migration needs a database and names for its collections");
  }
  if (log == old_table) return Status(Code::kBadValue, "the old table and the new log must have different names");
  if (batch_records_max < 1 || batch_records_max > 10'000) {
    return Status(Code::kBadValue, StrCat("batch_records_max is ", batch_records_max, ", not in 1..10000"));
  }
  return {};
}

Status MigrationOptions::CheckStop() const {
  if (stop == nullptr || !stop->load()) return {};
  return Status(Code::kInterrupted, "interrupted; run it again to go on from here");
}

Result<std::unique_ptr<StateStore>> StateStore::Open(Clients& clients, const MigrationOptions& options) {
  BRAID_CHECK_OK(options.Validate());
  std::unique_ptr<StateStore> store(new StateStore(clients, options));
  BRAID_CHECK_OK(store->Create());
  return store;
}

// The mirror first: whoever finds the other document finds this one too.
Status StateStore::Create() {
  {
    const Client client = clients_.Acquire();
    for (const std::string& name : {options_.state, options_.queue()}) {
      Bson create;
      create.Text("create", name);
      const auto reply = client::RunCommand(client.get(), options_.database.c_str(), create.get());
      if (!reply.ok() && reply.error().code() != Code::kNamespaceExists) return reply.error();
    }
  }
  BRAID_CHECK_OK(InTransaction([&](Transaction& transaction) -> Status {
    for (const char* id : {kMirror, kMigration}) {
      Bson filter;
      filter.Text("_id", id);
      Bson fields;
      fields.Integer("seq", 0).Integer("outputs", 0);
      if (id == kMigration) {
        fields.Text("phase", NameOf(Phase::kNone)).Text("log", options_.log).Text("old_table", options_.old_table);
        fields.Integer("hash", 0).Integer("verified_seq", 0).Text("why", "").Array("history", Bson());
      }
      Bson change;
      change.Document("$setOnInsert", fields);
      const Transaction::Update update{.filter = filter.get(), .change = change.get(), .upsert = true};
      BRAID_CHECK_OK(transaction.UpdateOnes(options_.state, {&update, 1}));
    }
    return {};
  }));
  std::string names;
  Phase phase = Phase::kNone;
  BRAID_CHECK_OK(InTransaction([&](Transaction& transaction) {
    Bson filter;
    filter.Text("_id", kMigration);
    return transaction.Find(options_.state, filter.get(), [&](const bson_t& document) -> Status {
      names = StrCat(client::TextOf(&document, "old_table"), " to ", client::TextOf(&document, "log"));
      BRAID_TRY(phase, PhaseOf(client::TextOf(&document, "phase")));
      return {};
    });
  }));
  if (names != StrCat(options_.old_table, " to ", options_.log)) {
    return Status(Code::kBadValue, StrCat("the migration of this store is from ", names));
  }
  if (phase == Phase::kDropped) return {};
  {
    const Client client = clients_.Acquire();
    Bson create;
    create.Text("create", options_.old_table);
    const auto reply = client::RunCommand(client.get(), options_.database.c_str(), create.get());
    if (!reply.ok() && reply.error().code() != Code::kNamespaceExists) return reply.error();
  }
  return phase == Phase::kNone ? AdoptHead() : Status();
}

Status StateStore::InTransaction(const std::function<Status(Transaction&)>& body) {
  const SessionGuard::Busy busy(guard_);
  return RunTransaction(clients_, {.database = options_.database}, [&](Transaction& transaction) {
    guard_.Note(mongoc_client_session_get_lsid(transaction.session()));
    return body(transaction);
  });
}

Result<State> StateStore::LoadIn(Transaction& transaction) {
  State state;
  const Bson all;
  BRAID_CHECK_OK(transaction.Find(options_.state, all.get(), [&](const bson_t& document) -> Status {
    if (client::TextOf(&document, "_id") != kMirror) return ReadMigration(document, state);
    state.mirrored_seq = client::IntegerOf(&document, "seq");
    state.mirrored_outputs = client::IntegerOf(&document, "outputs");
    return {};
  }));
  return state;
}

Result<State> StateStore::Load() {
  State state;
  BRAID_CHECK_OK(InTransaction([&](Transaction& transaction) -> Status {
    BRAID_TRY(state, LoadIn(transaction));
    return {};
  }));
  return state;
}

Result<Phase> StateStore::LoadPhase() {
  BRAID_TRY(const State state, Load());
  return state.phase;
}

// The conditions hold in the snapshot; that they still do at the commit is the store's to see.
Status StateStore::Set(Transaction& transaction, Phase phase, const bson_t* change) {
  Bson filter;
  filter.Text("_id", kMigration).Text("phase", NameOf(phase));
  const Transaction::Update update{.filter = filter.get(), .change = change};
  BRAID_TRY(const Transaction::Matched matched, transaction.UpdateOnes(options_.state, {&update, 1}));
  if (matched.matched == 1) return {};
  return Status(Code::kConflictingOperationInProgress,
                StrCat("the migration is not in the phase ", NameOf(phase), " any more"));
}

Status StateStore::MoveHead(Transaction& transaction, const State& before, const NewHead& head) {
  Bson fields;
  fields.Integer("seq", head.seq).Integer("hash", head.hash).Integer("outputs", head.outputs);
  Bson change;
  change.Document("$set", fields);
  return Set(transaction, before.phase, change.get());
}

Status StateStore::MoveMirror(const State& before, int64_t seq, int64_t outputs) {
  Bson filter;
  filter.Text("_id", kMirror).Integer("seq", before.mirrored_seq);
  Bson fields;
  fields.Integer("seq", seq).Integer("outputs", before.mirrored_outputs + outputs);
  Bson change;
  change.Document("$set", fields);
  const Transaction::Update update{.filter = filter.get(), .change = change.get()};
  return InTransaction([&](Transaction& transaction) {
    return transaction.UpdateOnes(options_.state, {&update, 1}).status();
  });
}

Status StateStore::Change(Phase from, Phase to, const std::string& why) {
  return InTransaction([&](Transaction& transaction) { return ChangeIn(transaction, from, to, why); });
}

Status StateStore::ChangeIfMirrored(Phase from, Phase to) {
  return InTransaction([&](Transaction& transaction) -> Status {
    BRAID_TRY(const State state, LoadIn(transaction));
    if (state.mirrored_seq < state.seq) {
      return Status(Code::kConflictingOperationInProgress, "the new chains do not have everything yet");
    }
    return ChangeIn(transaction, from, to, "");
  });
}

Status StateStore::ChangeIn(Transaction& transaction, Phase from, Phase to, const std::string& why) {
  Bson entry;
  entry.Text("phase", NameOf(to)).Date("at", options_.NowMillis()).Text("why", why);
  Bson push;
  push.Document("history", entry);
  Bson fields;
  fields.Text("phase", NameOf(to)).Text("why", why);
  if (to == Phase::kRolledBack) fields.Integer("verified_seq", 0);
  Bson change;
  change.Document("$set", fields).Document("$push", push);
  return Set(transaction, from, change.get());
}

Status StateStore::SetVerified(Phase phase, int64_t seq, const std::string& why) {
  Bson fields;
  fields.Integer("verified_seq", seq).Text("why", why);
  Bson change;
  change.Document("$set", fields);
  return InTransaction([&](Transaction& transaction) { return Set(transaction, phase, change.get()); });
}

Status StateStore::AdoptHead() {
  return InTransaction([&](Transaction& transaction) -> Status {
    BRAID_TRY(const State state, LoadIn(transaction));
    const Bson all;
    Bson newest_first;
    newest_first.Integer("_id", -1);
    NewHead head;
    BRAID_CHECK_OK(transaction.Find(options_.old_table, all.get(), {.sort = newest_first.get(), .limit = 1},
                                    [&](const bson_t& document) -> Status {
                                      BRAID_TRY(const OldRecord newest, OldRecordOf(document));
                                      head = {.seq = newest.sequence, .hash = newest.hash};
                                      return {};
                                    }));
    if (head.seq <= state.seq) return {};
    Bson above;
    above.Integer("$gt", state.seq);
    Bson filter;
    filter.Document("_id", above);
    Bson id;
    id.Integer("_id", 1);
    head.outputs = state.outputs;
    BRAID_CHECK_OK(
        transaction.Find(options_.old_table, filter.get(), {.projection = id.get()}, [&](const bson_t& /*document*/) {
          ++head.outputs;
          return Status();
        }));
    return MoveHead(transaction, state, head);
  });
}

Result<ReadSource> ReadSourceOf(StateStore& store) {
  BRAID_TRY(const Phase phase, store.LoadPhase());
  return ReadsChains(phase) ? ReadSource::kChains : ReadSource::kOldTable;
}

}  // namespace braid::settlement::migration
