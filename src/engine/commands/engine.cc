#include "engine/commands/engine.h"

#include <algorithm>
#include <chrono>
#include <span>

#include "base/assert.h"
#include "base/log.h"
#include "base/strings.h"
#include "engine/bson/builder.h"
#include "engine/commands/envelope.h"
#include "engine/commands/parts.h"
#include "engine/commands/query_sampler.h"

namespace braid::commands {
namespace {

Status UnknownCommand(const Request& request) {
  if (const RefusedCommand* refused = FindRefusedCommand(request.name)) {
    return Status(refused->code, StrCat("command '", refused->name, "' is not supported: ", refused->reason));
  }
  return Status(Code::kCommandNotFound, StrCat("no such command: '", request.name, "'"));
}

Status CheckAllowed(const EngineParts& parts, const Command& command, const Request& request) {
  if ((command.flags & kTestOnly) != 0 && !parts.options.test_commands) return UnknownCommand(request);
  if ((command.flags & kAdminOnly) != 0 && request.database != "admin") {
    return Status(Code::kUnauthorized, StrCat(command.name, " may only be run against the admin database."));
  }
  if (request.legacy_query && (command.flags & kHandshake) == 0) {
    return Status(Code::kUnsupportedOpQueryCommand, StrCat("Unsupported OP_QUERY command: ", command.name,
                                                           ". The client driver may require an upgrade."));
  }
  if (parts.shutting_down.load(std::memory_order_relaxed) && (command.flags & kHandshake) == 0) {
    return Status(Code::kInterruptedAtShutdown, "the server is shutting down");
  }
  return {};
}

// Errors that end a transaction which may succeed when it is run again. Sorted, as the next table.
constexpr int kTransient[] = {24, 112, 150, 239, 246, 249, 250, 267, 272, 343, 13388};
// Errors after which drivers send a write again: the server cannot be reached, shuts down, or is not the primary.
constexpr int kSendAgain[] = {6, 7, 89, 91, 134, 189, 262, 358, 402, 9001, 10107, 11600, 11602, 13435, 13436};

bool IsOneOf(std::span<const int> codes, Code code) {
  return std::ranges::binary_search(codes, static_cast<int>(code));
}

// The label that tells a driver what to send again: the whole transaction, or the one write.
std::string_view LabelOf(Code code, const Command& command, const Envelope& envelope) {
  const bool ends = (command.flags & kEndsTransaction) != 0;
  if (envelope.in_transaction) {
    if (IsOneOf(kTransient, code) || code == Code::kNoSuchTransaction || (!ends && IsOneOf(kSendAgain, code)))
      return "TransientTransactionError";
  }
  const bool retryable = ends || ((command.flags & kRetryable) != 0 && envelope.txn_number >= 0);
  return retryable && IsOneOf(kSendAgain, code) ? "RetryableWriteError" : "";
}

Status WithLabels(Status status, const Command& command, const Envelope& envelope) {
  const std::string_view label = LabelOf(status.code(), command, envelope);
  if (label.empty()) return status;
  bson::Builder labels;
  if (!status.details().empty()) labels.AppendAll(bson::View(status.details()));
  labels.OpenArray("errorLabels").AppendNext(label).Close();
  return status.WithDetails(labels.Finish().bytes());
}

bson::Document WriteConcernError(const Status& problem) {
  return bson::Make("code", static_cast<int32_t>(problem.code()), "codeName", CodeName(problem.code()), "errmsg",
                    problem.message());
}

// ok, $clusterTime and operationTime at the end of every reply.
bson::Document Seal(bson::Document reply, EngineParts& parts, bool failed) {
  static const std::string kNoSignature(20, '\0');
  const bson::Timestamp now{parts.cluster_clock.Now()};
  bson::Builder tail;
  if (!failed) tail.Append("ok", 1.0);
  tail.OpenObject("$clusterTime").Append("clusterTime", now);
  tail.OpenObject("signature")
      .Append("hash", bson::Binary{0, kNoSignature})
      .Append("keyId", int64_t{0})
      .Close()
      .Close();
  tail.Append("operationTime", now);
  return AppendTo(std::move(reply), tail.Finish());
}

// The client's name; a connection's first hello brings it.
std::string_view ApplicationOf(const Client& client, const Request& request) {
  if (!client.application.empty()) return client.application;
  for (bson::Value value(request.body); const char* name : {"client", "application", "name"}) {
    value = value.Is(bson::Type::kObject) ? value.AsView().Find(name) : bson::Value();
    if (value.Is(bson::Type::kString)) return value.AsString();
  }
  return {};
}

// The status of a failCommand, its labels included.
Status FailStatus(const FailAction& action, const Command& command, const Envelope& envelope) {
  if (!action.error_labels) return WithLabels(action.error, command, envelope);
  bson::Builder details;
  details.AppendArray("errorLabels", *action.error_labels);
  return action.error.WithDetails(details.Finish().bytes());
}

/// The state that a snapshot read outside a transaction reads: the one that `atClusterTime` names, or the newest one,
/// which is kept under the time in the reply.
Status FixReadView(EngineParts& parts, const Envelope& envelope, Call& call) {
  const ReadConcern& concern = envelope.read_concern;
  if (!concern.snapshot || envelope.in_transaction) return {};
  if (concern.at_cluster_time > parts.cluster_clock.Now()) {
    return {Code::kInvalidOptions, "readConcern atClusterTime value must not be greater than the current clusterTime"};
  }
  if (concern.at_cluster_time != 0) {
    BRAID_TRY(storage::Snapshot snapshot, parts.snapshots.Find(concern.at_cluster_time));
    call.context.UseSnapshot(std::move(snapshot));
    call.snapshot_time = concern.at_cluster_time;
    return {};
  }
  call.snapshot_time = parts.cluster_clock.Tick();
  call.context.FixSnapshot();
  parts.snapshots.Keep(call.snapshot_time, call.context.snapshot());
  return {};
}

/// Some of the command's writes failed.
bool Failed(bson::View reply) {
  const bson::Value errors = reply.Find("nErrors");
  return reply.Has("writeErrors") || (errors.Is(bson::Type::kInt32) && errors.AsInt32() > 0);
}

/// A statement of a transaction runs in the transaction's context; if it fails, wholly or in part, the transaction is
/// aborted.
Result<bson::Document> RunStatement(EngineParts& parts, const Command& command, const Envelope& envelope, Call& call) {
  BRAID_ASSERT(call.session != nullptr && call.context.is_transaction());
  NumberedWork& work = **call.session;
  Result<bson::Document> reply = command.run(call);
  if (!reply.ok() || Failed(*reply)) {
    const Status aborted = parts.transactions.Abort(*call.session, envelope.txn_number);
    aborted.Ignore("it may have been aborted by the statement itself");
    parts.cursors.KillTransaction(envelope.lsid, envelope.txn_number);
    return reply;
  }
  work.wrote = work.wrote || !call.context.writes().empty();
  bson::Builder token;
  token.OpenObject("recoveryToken");
  if (work.wrote) token.Append("recoveryShardId", parts.catalog->cluster().shards.front().name);
  return AppendTo(*std::move(reply), token.Close().Finish());
}

/// A request with a transaction number: a statement of a transaction, its end, or a retryable write.
Result<bson::Document> RunNumbered(EngineParts& parts, const Command& command, const Envelope& envelope, Call& call,
                                   txn::Operation& operation) {
  BRAID_ASSERT(!envelope.lsid.empty());  // a transaction number needs a session, says the envelope
  BRAID_TRY(Transactions::Checkout session, parts.transactions.CheckOut(envelope.lsid, operation));
  call.session = &session;
  if (session->state == NumberedWork::State::kOpen && session->number < envelope.txn_number) {
    parts.cursors.KillTransaction(envelope.lsid, session->number);  // about to be aborted for the new number
  }
  if ((command.flags & kEndsTransaction) != 0) {
    call.txn_number = envelope.txn_number;
    if (session->context != nullptr) session->context->Enter(operation);  // a commit may have to wait
    Result<bson::Document> reply = command.run(call);
    parts.cursors.KillTransaction(envelope.lsid, envelope.txn_number);
    return reply;
  }
  if (!envelope.in_transaction) {
    BRAID_CHECK_OK(parts.transactions.BeginRetryable(session, envelope.txn_number));
    RetryLog retry(session, call.context);
    call.retry = &retry;
    Result<bson::Document> reply = command.run(call);
    call.context.BeforeCommit(nullptr);
    if (!reply.ok() || Failed(*reply)) parts.transactions.ForgetUncommitted(session);
    if (!reply.ok() || retry.retried() == 0) return reply;
    parts.transactions.CountRetried(retry.retried());
    // What was committed the first time may not be durable yet.
    call.context.NotePosition(parts.store->newest());
    bson::Builder tail;
    retry.AppendTo(tail);
    return AppendTo(*std::move(reply), tail.Finish());
  }
  if (envelope.starts_transaction) {
    BRAID_CHECK_OK(parts.transactions.BeginTransaction(session, envelope.txn_number, operation));
  } else {
    BRAID_CHECK_OK(Transactions::CheckOpen(*session, envelope.txn_number));
  }
  Transactions::NoteStatement(*session, call.client.id);
  call.client.transaction = envelope.lsid;
  BRAID_ASSERT(session->context != nullptr);  // it is open
  session->context->Enter(operation);
  Call statement{parts, call.client, call.request, *session->context, call.lsid, call.write_concern};
  statement.session = &session;
  statement.txn_number = envelope.txn_number;
  return RunStatement(parts, command, envelope, statement);
}

// Some of a command's writes may have failed; the first error is told.
Status OutcomeOf(const Result<bson::Document>& reply) {
  if (!reply.ok()) return reply.error();
  const bson::Value errors = reply->Find("writeErrors");
  const bson::Value first = errors.Is(bson::Type::kArray) ? errors.AsView().At(0) : bson::Value();
  if (!first.Is(bson::Type::kObject)) return {};
  return {static_cast<Code>(first.AsView().Find("code").AsInt32()),
          std::string(first.AsView().Find("errmsg").AsString())};
}

void RecordEnded(EngineParts& parts, const Request& request, const txn::Operation& operation, txn::OperationWork& work,
                 const Result<bson::Document>& reply) {
  work.Leave();
  work.Enter();
  const Status outcome = OutcomeOf(reply);
  parts.profiler.Record({.operation = operation,
                         .request = request,
                         .outcome = outcome,
                         .reply = reply.ok() ? reply->view() : bson::View(),
                         .duration = parts.options.clock->Now() - operation.started,
                         .ended_millis = parts.options.clock->NowMillis()});
}

// Runs the handler within an operation and a context of its own.
Result<bson::Document> RunHandler(EngineParts& parts, Client& client, const Request& request, const Command& command,
                                  const Envelope& envelope, Reply& answer) {
  txn::Operations::Handle operation = parts.operations.Start([&](txn::Operation& started) {
    started.connection = client.id;
    started.client = client.remote;
    started.application = client.application;
    started.database = request.database;
    started.name = command.name;
    started.lsid = envelope.lsid;
    started.gives_way = (command.flags & kGivesWay) != 0;
    if ((command.flags & kNoOperation) == 0) started.command = request.body;
    if (envelope.max_time_ms > 0) {
      started.deadline = started.started + std::chrono::milliseconds(envelope.max_time_ms);
    }
    if ((command.flags & kNoOperation) == 0) {
      started.recorded_from = parts.profiler.RecordedFrom(request.database, started.started);
    }
  });
  txn::OperationWork work(*operation, &parts.memory);
  if (operation->recorded_from == operation->started) work.MeasureCpu();
  const WorkEntered entered(work);
  txn::Context context(parts.shared, *operation);
  Call call{parts, client, request, context, envelope.lsid, envelope.write_concern};
  BRAID_CHECK_OK(FixReadView(parts, envelope, call));
  Result<bson::Document> reply =
      envelope.txn_number >= 0 ? RunNumbered(parts, command, envelope, call, *operation) : command.run(call);
  if (operation->IsRecorded()) RecordEnded(parts, request, *operation, work, reply);
  if (parts.query_sampler.active() && reply.ok()) RecordQuery(parts, request);
  if (context.position() > 0) {
    parts.cluster_clock.Tick();
    if (envelope.write_concern.Wait()) answer.durable_at = context.position();
  }
  // A write may tell what others have committed, too: that nothing matches, or that a key is taken. Nothing that was
  // read can be newer than what is committed by now.
  const bool may_tell = (command.flags & (kWrites | kReadOnly)) == kWrites && envelope.write_concern.Wait();
  if ((may_tell || envelope.read_concern.durable) && !envelope.in_transaction) {
    answer.durable_at = parts.store->newest();
  }
  answer.charge = std::move(call.reply_charge);
  return reply;
}

}  // namespace

Status EngineOptions::Validate() const {
  if (directory.empty()) return Status(Code::kBadValue, "the store's directory is empty");
  if (shards < 1 || shards > 1024)
    return Status(Code::kBadValue, StrCat("shards: ", shards, " is out of range 1..1024"));
  if (cache_bytes < (16ull << 20)) return Status(Code::kBadValue, "the cache must have at least 16 MiB");
  if (memory_limit_bytes < (64ull << 20)) return Status(Code::kBadValue, "the memory limit must be at least 64 MiB");
  if (transaction_lifetime < std::chrono::seconds(1))
    return Status(Code::kBadValue, "a transaction must be allowed to be open for at least 1 s");
  return {};
}

Engine::Engine(std::unique_ptr<EngineParts> parts) : parts_(std::move(parts)) {}
Engine::~Engine() { parts_->cursors.KillAll(); }

Result<std::unique_ptr<Engine>> Engine::Open(const EngineOptions& options) {
  BRAID_CHECK_OK(options.Validate());
  BRAID_TRY(auto store, storage::Store::Open({.directory = options.directory,
                                              .cache_bytes = options.cache_bytes,
                                              .accept_loss = options.accept_loss}));
  BRAID_TRY(auto catalog, catalog::Catalog::Load(*store, options.shards));
  auto parts = std::make_unique<EngineParts>(options, std::move(store), std::move(catalog));
  return std::unique_ptr<Engine>(new Engine(std::move(parts)));
}

Client Engine::Connect(std::string remote) {
  Client client;
  client.id = ++parts_->last_connection;
  client.remote = std::move(remote);
  return client;
}

void Engine::Disconnect(const Client& client) {
  if (!client.transaction.empty()) parts_->transactions.NoteClosed(client.transaction, client.id);
  if (client.bound_cursors) parts_->cursors.KillConnection(client.id);
  if (client.used_cursors) parts_->cursors.NoteClosed(client.id);
}

void Engine::Interrupt(const Client& client) { parts_->operations.KillConnection(client.id, Code::kClientDisconnect); }

Reply Engine::Run(Client& client, const Request& request) {
  EngineParts& parts = *parts_;
  parts.counters.commands.fetch_add(1, std::memory_order_relaxed);
  const auto fail = [&](const Status& status) {
    parts.counters.errors.fetch_add(1, std::memory_order_relaxed);
    log::debug("connection {}: {} failed: {}", client.id, request.name, status.ToString());
    return Seal(bson::ErrorReply(status), parts, true);
  };

  const Command* command = FindCommand(request.name);
  if (command == nullptr) return {fail(UnknownCommand(request))};
  if (Status allowed = CheckAllowed(parts, *command, request); !allowed.ok()) return {fail(allowed)};
  Result<Envelope> envelope = Envelope::Parse(*command, request);
  if (!envelope.ok()) return {fail(envelope.error())};
  parts.cluster_clock.Advance(std::max(envelope->cluster_time, envelope->read_concern.after_cluster_time));
  if (!envelope->lsid.empty()) parts.sessions.Touch(envelope->lsid);

  const std::optional<FailAction> action = parts.fail_points.Enter(command->name, ApplicationOf(client, request));
  if (action) {
    if (action->block_millis > 0) {
      const txn::Operations::Handle blocked = parts.operations.Start();
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(action->block_millis);
      for (auto now = std::chrono::steady_clock::now(); now < end && blocked->WaitFor(end - now).ok();) {
        now = std::chrono::steady_clock::now();
      }
    }
    if (action->close_connection) return {fail(Status(Code::kHostUnreachable, "closed by a fail point")), 0, true};
    if (!action->error.ok()) return {fail(FailStatus(*action, *command, *envelope))};
  }

  Reply reply;
  const auto began = std::chrono::steady_clock::now();
  Result<bson::Document> body = RunHandler(parts, client, request, *command, *envelope, reply);
  parts.command_figures.Note(*command, !body.ok() || Failed(*body), std::chrono::steady_clock::now() - began);
  if (!body.ok()) {
    reply.charge.reset();
    reply.body = fail(WithLabels(body.error(), *command, *envelope));
    return reply;
  }
  bson::Document document = *std::move(body);
  if (action && !action->write_concern_error.empty()) {
    bson::Builder extra;
    extra.Append("writeConcernError", action->write_concern_error);
    if (action->error_labels) extra.AppendArray("errorLabels", *action->error_labels);
    document = AppendTo(std::move(document), extra.Finish());
  } else if (!envelope->write_concern.problem.ok()) {
    const bson::Document error = WriteConcernError(envelope->write_concern.problem);
    document = AppendTo(std::move(document), bson::Make("writeConcernError", error));
  }
  reply.body = Seal(std::move(document), parts, false);
  return reply;
}

void Engine::WhenDurable(uint64_t position, std::function<void(Status, size_t turn)> done) {
  parts_->store->WhenDurable(position, std::move(done));
}

Status Engine::WaitDurable(uint64_t position) { return parts_->store->WaitDurable(position); }

Status Engine::Sync() {
  BRAID_CHECK_OK(parts_->store->WaitDurable(parts_->store->newest()));
  return parts_->store->writable();
}

void Engine::BeginShutdown() {
  parts_->shutting_down = true;
  parts_->operations.KillAll(Code::kInterruptedAtShutdown);
}

std::string Engine::process_id() const { return Hex({parts_->process_id.bytes, sizeof(parts_->process_id.bytes)}); }

MemoryBudget& Engine::memory() { return parts_->memory; }

size_t Engine::running() const { return parts_->operations.size(); }

void Engine::SetConnectionFigures(std::function<bson::Document()> figures) {
  parts_->connection_figures = std::move(figures);
}

}  // namespace braid::commands
