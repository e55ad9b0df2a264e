#include "services/settlement/migration/state.h"

#include <algorithm>

#include "base/assert.h"
#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"

namespace braid::settlement::migration {
namespace {

using client::Bson;

Status NotAnyMore(Phase phase) {
  return Status(Code::kConflictingOperationInProgress,
                StrCat("the migration is not in the phase ", NameOf(phase), " any more"));
}

Status ReadMigration(const bson_t& document, State& state) {
  BRAID_TRY(state.phase, PhaseOf(client::TextOf(&document, "phase")));
  state.log = client::TextOf(&document, "log");
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

Status StateStore::InTransaction(const std::function<Status(Transaction&)>& body) {
  const SessionGuard::Busy busy(guard_);
  return RunTransaction(clients_, {.database = options_.database}, [&](Transaction& transaction) {
    guard_.Note(mongoc_client_session_get_lsid(transaction.session()));
    return body(transaction);
  });
}

Result<State> StateStore::LoadIn(Transaction& transaction, const MigrationOptions& options) {
  State state;
  std::string old_table;
  std::string mapping;
  const std::string ids[] = {kMigrationId, MirrorIdOf(options)};
  BRAID_CHECK_OK(transaction.FindIds(options.state, ids, [&](const bson_t& document) -> Status {
    if (client::TextOf(&document, "_id") == kMigrationId) {
      old_table = client::TextOf(&document, "old_table");
      mapping = client::TextOf(&document, "mapping");
      return ReadMigration(document, state);
    }
    state.mirrored_seq = client::IntegerOf(&document, "seq");
    state.mirrored_outputs = client::IntegerOf(&document, "outputs");
    return {};
  }));
  if (old_table.empty()) {
    return Status(Code::kNamespaceNotFound, StrCat("the database '", options.database, "' has no migration; ",
                                                   "`braid settlement migrate preflight` says whether one can begin"));
  }
  if (mapping.empty()) mapping = OldLayout().ToJson();  // of a migration that began before there were mappings
  if (old_table == options.old_table && mapping != options.layout.ToJson()) {
    return Status(Code::kBadValue, StrCat("the migration of this store reads ", old_table, " by the mapping ", mapping,
                                          ", not by ", options.layout.ToJson()));
  }
  // Outputs are in one table; into which chains they go matters from when they do.
  if (old_table == options.old_table && (state.log == options.log || !Mirrors(state.phase))) return state;
  return Status(Code::kBadValue, StrCat("the migration of this store is from ", old_table, " to ", state.log,
                                        ", not from ", options.old_table, " to ", options.log));
}

Result<State> StateStore::LoadToChange(Transaction& transaction) {
  Bson filter;
  filter.Text("_id", kMigrationId);
  Bson one;
  one.Integer("turns", 1);
  Bson change;
  change.Document("$inc", one);
  const Transaction::Update update{.filter = filter.get(), .change = change.get()};
  BRAID_CHECK_OK(transaction.UpdateOnes(options_.state, {&update, 1}));
  return LoadIn(transaction);
}

Result<State> StateStore::Load() {
  State state;
  BRAID_CHECK_OK(InTransaction([&](Transaction& transaction) -> Status {
    BRAID_TRY(state, LoadIn(transaction));
    return {};
  }));
  return state;
}

// The conditions hold in the snapshot; the store checks at the commit that they still do.
Status StateStore::Set(Transaction& transaction, Phase phase, const bson_t* change) {
  Bson filter;
  filter.Text("_id", kMigrationId).Text("phase", NameOf(phase));
  const Transaction::Update update{.filter = filter.get(), .change = change};
  BRAID_TRY(const Transaction::Matched matched, transaction.UpdateOnes(options_.state, {&update, 1}));
  return matched.matched == 1 ? Status() : NotAnyMore(phase);
}

Status StateStore::MoveHead(Transaction& transaction, const State& before, const NewHead& head) {
  Bson fields;
  fields.Integer("seq", head.seq).Integer("hash", head.hash).Integer("outputs", head.outputs);
  Bson change;
  change.Document("$set", fields);
  return Set(transaction, before.phase, change.get());
}

Status StateStore::MoveMirror(int64_t seq, int64_t outputs) {
  Bson before;
  before.Integer("$lt", seq);
  Bson filter;
  filter.Text("_id", MirrorId()).Document("seq", before);
  Bson fields;
  fields.Integer("seq", seq).Integer("outputs", outputs);
  Bson change;
  change.Document("$set", fields);
  const Transaction::Update update{.filter = filter.get(), .change = change.get()};
  return InTransaction([&](Transaction& transaction) {
    return transaction.UpdateOnes(options_.state, {&update, 1}).status();
  });
}

Status StateStore::Change(Phase from, Phase to, const std::string& why) {
  return InTransaction([&](Transaction& transaction) -> Status {
    BRAID_TRY(const State state, LoadToChange(transaction));
    if (state.phase != from) return NotAnyMore(from);
    return ChangeIn(transaction, state, to, why);
  });
}

Result<bool> StateStore::ChangeIfLacking(int64_t outputs_max, Phase from, Phase to) {
  BRAID_ASSERT(outputs_max >= 0 && from != to);
  bool changed = false;
  BRAID_CHECK_OK(InTransaction([&](Transaction& transaction) -> Status {
    BRAID_TRY(const State state, LoadToChange(transaction));
    if (state.phase != from) return NotAnyMore(from);
    changed = state.outputs - state.mirrored_outputs <= outputs_max;
    return changed ? ChangeIn(transaction, state, to, "") : Status();
  }));
  return changed;
}

Status StateStore::ChangeIn(Transaction& transaction, const State& state, Phase to, const std::string& why) {
  // Another log was chosen since this one was checked.
  if (Mirrors(to) && state.log != options_.log) return NotAnyMore(state.phase);
  Bson entry;
  entry.Text("phase", NameOf(to)).Date("at", options_.NowMillis()).Text("why", why);
  Bson push;
  push.Document("history", entry);
  Bson fields;
  fields.Text("phase", NameOf(to)).Text("why", why);
  if (to == Phase::kPreflight) fields.Text("log", options_.log);
  if (!Mirrors(to)) fields.Integer("verified_seq", 0);
  Bson change;
  change.Document("$set", fields).Document("$push", push);
  return Set(transaction, state.phase, change.get());
}

Status StateStore::SetVerified(int64_t seq, const std::string& why) {
  return InTransaction([&](Transaction& transaction) -> Status {
    BRAID_TRY(const State state, LoadToChange(transaction));
    if (!HasReached(state.phase, Phase::kVerify)) return NotAnyMore(Phase::kVerify);
    Bson fields;
    fields.Integer("verified_seq", std::max(seq, state.verified_seq)).Text("why", why);
    Bson change;
    change.Document("$set", fields);
    return Set(transaction, state.phase, change.get());
  });
}

Result<State> ReadState(Clients& clients, const MigrationOptions& options) {
  BRAID_CHECK_OK(options.Validate());
  State state;
  BRAID_CHECK_OK(RunTransaction(clients, {.database = options.database}, [&](Transaction& transaction) -> Status {
    BRAID_TRY(state, StateStore::LoadIn(transaction, options));
    return {};
  }));
  return state;
}

Result<bool> HasOldTable(Clients& clients, const MigrationOptions& options) {
  Bson filter;
  filter.Text("name", options.old_table);
  Bson command;
  command.Integer("listCollections", 1).Document("filter", filter);
  const Client client = clients.Acquire();
  BRAID_TRY(const client::BsonPtr reply, client::RunCommand(client.get(), options.database.c_str(), command.get()));
  return client::TextOf(reply.get(), "cursor.firstBatch.0.name") == options.old_table;
}

Status CheckNotUnderWay(Clients& clients, const std::string& database, const std::string& log) {
  const Client client = clients.Acquire();
  const auto states = client::CollectionOf(client.get(), database, MigrationOptions().state);
  client::Bson filter;
  filter.Text("_id", kMigrationId);
  const client::CursorPtr cursor(mongoc_collection_find_with_opts(states.get(), filter.get(), nullptr, nullptr));
  const bson_t* document = nullptr;
  if (!mongoc_cursor_next(cursor.get(), &document)) {
    bson_error_t error{};
    return mongoc_cursor_error(cursor.get(), &error) ? client::FromError(error) : Status();
  }
  BRAID_TRY(const Phase phase, PhaseOf(client::TextOf(document, "phase")));
  if (phase < Phase::kPreflight || phase > Phase::kDropping || client::TextOf(document, "log") != log) return {};
  return Status(Code::kIllegalOperation,
                StrCat("a migration from ", client::TextOf(document, "old_table"), " to ", log, " is under way (phase ",
                       NameOf(phase), "): outputs go through `braid settlement migrate write` until the old table is ",
                       "dropped; `migrate status` says what comes next"));
}

}  // namespace braid::settlement::migration
