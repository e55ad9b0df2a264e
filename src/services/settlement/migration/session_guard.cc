#include "services/settlement/migration/session_guard.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/strings.h"
#include "client/command.h"
#include "client/fields.h"

namespace braid::settlement::migration {
namespace {

using client::Bson;
using std::chrono::milliseconds;

constexpr milliseconds kRenewEvery{300};
constexpr milliseconds kLongWait{700};
constexpr int64_t kOldMillis = 1500;

}  // namespace

SessionGuard::SessionGuard(Clients& clients, std::string database, std::string collection)
    : clients_(clients), database_(std::move(database)), collection_(std::move(collection)) {
  thread_ = std::thread([this] { Run(); });
}

SessionGuard::~SessionGuard() {
  {
    const std::lock_guard lock(mu_);
    ended_ = true;
  }
  wake_.notify_all();
  thread_.join();
  const Client client = clients_.Acquire();
  for (const auto& [id, lsid] : sessions_) {
    Bson filter;
    filter.Text("_id", id);
    mongoc_collection_delete_one(Collection(client).get(), filter.get(), nullptr, nullptr, nullptr);
  }
}

void SessionGuard::Note(const bson_t* lsid) {
  const std::string id = Hex(client::BinaryOf(lsid, "id"));
  std::map<std::string, client::BsonPtr> fresh;
  {
    const std::lock_guard lock(mu_);
    if (!sessions_.emplace(id, bson_copy(lsid)).second) return;
    fresh.emplace(id, bson_copy(lsid));
  }
  Renew(fresh);
}

void SessionGuard::Begin() {
  const std::lock_guard lock(mu_);
  if (busy_++ == 0) busy_since_ = std::chrono::steady_clock::now();
}

void SessionGuard::End() {
  const std::lock_guard lock(mu_);
  --busy_;
}

void SessionGuard::Run() {
  std::unique_lock lock(mu_);
  while (!wake_.wait_for(lock, kRenewEvery, [this] { return ended_; })) {
    const bool waits = busy_ > 0 && std::chrono::steady_clock::now() - busy_since_ > kLongWait;
    std::map<std::string, client::BsonPtr> sessions;
    for (const auto& [id, lsid] : sessions_) sessions.emplace(id, bson_copy(lsid.get()));
    lock.unlock();
    Renew(sessions);
    if (waits) EndOthers();
    lock.lock();
  }
}

// A failure means that the store is away: then nobody waits for a transaction.
void SessionGuard::Renew(const std::map<std::string, client::BsonPtr>& sessions) {
  const Client client = clients_.Acquire();
  Bson upsert;
  upsert.Bool("upsert", true);
  for (const auto& [id, lsid] : sessions) {
    Bson filter;
    filter.Text("_id", id);
    Bson fields;
    bson_append_document(fields.get(), "lsid", -1, lsid.get());
    fields.Date("at", Clock::System().NowMillis());
    Bson change;
    change.Document("$set", fields);
    mongoc_collection_update_one(Collection(client).get(), filter.get(), change.get(), upsert.get(), nullptr, nullptr);
  }
}

void SessionGuard::EndOthers() {
  const Client client = clients_.Acquire();
  Bson before;
  before.Date("$lt", Clock::System().NowMillis() - kOldMillis);
  Bson old;
  old.Document("at", before);
  const client::CursorPtr cursor(
      mongoc_collection_find_with_opts(Collection(client).get(), old.get(), nullptr, nullptr));
  const bson_t* document = nullptr;
  while (mongoc_cursor_next(cursor.get(), &document)) {
    const std::string id(client::TextOf(document, "_id"));
    bson_iter_t lsid;
    if (!bson_iter_init_find(&lsid, document, "lsid")) continue;
    Bson list;
    bson_append_iter(list.get(), "0", -1, &lsid);
    Bson command;
    command.Array("killSessions", list);
    const Client other = clients_.Acquire();  // the cursor has the first
    const auto reply = client::RunCommand(other.get(), "admin", command.get());
    if (!reply.ok()) {
      log::warn("session {} of a process that is gone cannot be ended: {}", id, reply.error().ToString());
      continue;
    }
    Bson filter;
    filter.Text("_id", id).Document("at", before);
    mongoc_collection_delete_one(Collection(other).get(), filter.get(), nullptr, nullptr, nullptr);
  }
}

}  // namespace braid::settlement::migration
